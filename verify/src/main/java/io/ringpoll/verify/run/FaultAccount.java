package io.ringpoll.verify.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.fault.FaultInjection;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What a fault plan did to a run.
 *
 * @param plan                as text
 * @param rules               each with how often it triggered, in the plan's order
 * @param connectionsReplaced connections that failed and for which others were opened
 * @param queuesPutBack       completion queues that were polled again after a failed poll
 */
record FaultAccount(String plan, List<Rule> rules, long connectionsReplaced, long queuesPutBack) {
    /**
     * One rule.
     *
     * @param text     of the rule
     * @param injected how often it triggered
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
