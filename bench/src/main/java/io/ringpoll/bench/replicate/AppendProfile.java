package io.ringpoll.bench.replicate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.MachineTicks;
import io.ringpoll.bench.measure.ThreadCosts;
import io.ringpoll.bench.measure.ThreadCosts.Cost;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The cost of appends: wake-ups and processor time of each kind of thread, and of the whole machine.
 *
 * @param appends number of appends
 * @param byKind  all activity of the threads during the run; without threads that have ended before its end
 * @param machine all activity of the processors during the run
 */
record AppendProfile(long appends, Map<String, Cost> byKind, MachineTicks machine) {
    /** An empty profile. */
    static final AppendProfile NONE = new AppendProfile(0, Map.of(), new MachineTicks(0, 0, 0));

    private static final double NS_PER_US = TimeUnit.MICROSECONDS.toNanos(1);
    private static final String OTHERS = "others";

    /** Prefixes or parts of thread names, as far as the kernel keeps them; the first match applies. */
    private static final Map<String, String> KINDS = new LinkedHashMap<>();

    static {
        KINDS.put("shared-rdma-.*", "poller of all nodes");
        KINDS.put("(server-.-rdma-p|server-.--threa|NettyRpcService|grpc-default-wo).*", "servers' pollers or event loops");
        KINDS.put("server-.-rdma-[hrse].*", "servers' handlers");
        KINDS.put("(server-.-rdma-w|server-.-client|grpc-default-ex).*", "servers' threads for requests");
        KINDS.put("server-.-rdma-c.*", "connections");
        KINDS.put("(client-|timer).*", "client's poller or event loop, timers");
        KINDS.put("server-.@group-.*", "engine: log, appenders, events, state machine");
        KINDS.put("server-.-.*", "engine: executors of servers");
        KINDS.put("java.*", "thread that appends");
        KINDS.put("(C1|C2) Compiler.*", "JVM: compilers");
        KINDS.put("(G1|GC|VM|Concurrent|Monitor|Reference|Finalizer|Signal|Service|Common).*", "JVM: the rest");
    }

    /** The two samples of a profile. */
    static final class Start {
        private final ThreadCosts threads = ThreadCosts.ofThisProcess();
        private final MachineTicks machine = MachineTicks.now();

        AppendProfile end(final long appends) {
            final MachineTicks machineNow = MachineTicks.now();
            return new AppendProfile(appends, ThreadCosts.ofThisProcess().since(threads, AppendProfile::kind),
                machineNow.since(machine));
        }
    }

    static String kind(final String threadName) {
        return KINDS.entrySet().stream().filter(each -> threadName.matches(each.getKey())).map(Map.Entry::getValue).findFirst()
            .orElse(OTHERS);
    }

    AppendProfile plus(final AppendProfile other) {
        final Map<String, Cost> sum = new TreeMap<>(byKind);
        other.byKind.forEach((kind, cost) -> sum.merge(kind, cost, Cost::plus));
        return new AppendProfile(appends + other.appends, sum, machine.plus(other.machine));
    }

    void print(final PrintWriter out, final String contestant) {
        out.printf("an append over %s:%n%-48s %10s %14s %14s%n", contestant, "", "wake-ups", "processor us", "of it kernel");
        Cost all = Cost.NONE;
        for (final Map.Entry<String, Cost> each : byKind.entrySet()) {
            line(out, each.getKey(), each.getValue());
            all = all.plus(each.getValue());
        }
        line(out, "this process", all);
        out.printf("%-48s %10s %14.1f %14.1f  interrupts %.1f%n", "the machine", "",
            perAppend(MachineTicks.ns(machine.user() + machine.kernel() + machine.interrupts())) / NS_PER_US,
            perAppend(MachineTicks.ns(machine.kernel() + machine.interrupts())) / NS_PER_US,
            perAppend(MachineTicks.ns(machine.interrupts())) / NS_PER_US);
    }

    private void line(final PrintWriter out, final String what, final Cost cost) {
        out.printf("%-48s %10.2f %14.1f %14.1f%n", what, perAppend(cost.wakeUps()), perAppend(cost.cpuNs()) / NS_PER_US,
            perAppend(cost.kernelNs()) / NS_PER_US);
    }

    void addTo(final ObjectNode parent) {
        final ObjectNode threads = parent.putObject("perAppend");
        byKind.forEach((kind, cost) -> threads.putObject(kind).put("wakeUps", perAppend(cost.wakeUps()))
            .put("cpuUs", perAppend(cost.cpuNs()) / NS_PER_US).put("kernelUs", perAppend(cost.kernelNs()) / NS_PER_US));
        threads.putObject("machine").put("userUs", perAppend(MachineTicks.ns(machine.user())) / NS_PER_US)
            .put("kernelUs", perAppend(MachineTicks.ns(machine.kernel())) / NS_PER_US)
            .put("interruptsUs", perAppend(MachineTicks.ns(machine.interrupts())) / NS_PER_US);
    }

    private double perAppend(final double amount) {
        return amount / Math.max(1, appends);
    }
}
