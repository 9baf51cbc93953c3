package io.ringpoll.verify.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.fault.FaultInjection;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The effects of a fault plan on a run.
 *
 * @param plan                the plan as text
 * @param rules               trigger count of each rule, in the order of the plan
 * @param connectionsReplaced failed connections that were replaced
 * @param queuesPutBack       completion queues that were polled again after a failed poll
 */
record FaultAccount(String plan, List<Rule> rules, long connectionsReplaced, long queuesPutBack) {
    /**
     * The count of one rule.
     *
     * @param text     text of the rule
     * @param injected number of triggers
     */
    record Rule(String text, long injected) {
    }

    static FaultAccount of(final FaultInjection injection, final long connectionsReplaced, final long queuesPutBack) {
        final List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < injection.plan().rules().size(); i++) {
            rules.add(new Rule(injection.plan().rules().get(i).toString(), injection.injected(i)));
        }
        return new FaultAccount(injection.plan().toString(), rules, connectionsReplaced, queuesPutBack);
    }

    long injected() {
        return rules.stream().mapToLong(Rule::injected).sum();
    }

    void print(final PrintWriter out) {
        out.printf("faults injected      %,d", injected());
        rules.forEach(rule -> out.printf("  %s: %,d", rule.text, rule.injected));
        out.printf(
            "%nafter faults         %,d connections replaced, %,d queues polled again%n", connectionsReplaced, queuesPutBack);
    }

    void writeTo(final ObjectNode root) {
        final ObjectNode faults = root.putObject("faults");
        faults.put("plan", plan).put("injected", injected()).put("connectionsReplaced", connectionsReplaced)
            .put("queuesPutBack", queuesPutBack);
        final ObjectNode each = faults.putObject("rules");
        rules.forEach(rule -> each.put(rule.text, rule.injected));
    }
}
