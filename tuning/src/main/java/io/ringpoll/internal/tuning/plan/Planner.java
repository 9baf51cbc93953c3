package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.Cpu;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Computes one {@link AffinityPlan}: assigns CPUs to one thread after the other, the poller first.
 *
 * <p>Whole cores near the device are used first; then, for handlers, free siblings there, because a hand-off between sockets
 * costs more than a shared core; then cores elsewhere. Finally handlers share a CPU, and the remaining threads run on the one CPU
 * that is always reserved for auxiliary threads.
 */
final class Planner {
    private final Topology topology;
    private final PlanRequest request;
    private final CpuSet usable;
    private final Home home;
    private final CpuSet homeCpus;
    private final CpuSet reserved;
    private final CpuPool pool;
    private final Map<ThreadRole, Integer> cpus = new LinkedHashMap<>();
    private final Map<ThreadRole, String> reasons = new LinkedHashMap<>();
    private final List<String> facts = new ArrayList<>();
    private final List<String> givenUp = new ArrayList<>();
    private CpuSet cacheGroup = CpuSet.EMPTY;

    Planner(final Topology topology, final PlanRequest request) {
        this.topology = topology;
        this.request = request;
        usable = usable(topology, request);
        home = Home.choose(topology, request, usable);
        homeCpus = home.node().cpus().and(usable);
        reserved = reserved();
        pool = new CpuPool(topology, usable, reserved);
    }

    private static CpuSet usable(final Topology topology, final PlanRequest request) {
        if (request.cpus().isEmpty()) {
            return topology.usable();
        }
        final CpuSet wanted = request.cpus().get();
        final CpuSet outside = wanted.minus(topology.usable());
        if (wanted.isEmpty() || !outside.isEmpty()) {
            throw new IllegalArgumentException(wanted.isEmpty() ? "an empty list of CPUs"
                : outside.named() + " cannot be used: this process may use " + topology.usable() + " (online: "
                    + topology.online() + ")");
        }
        return wanted;
    }

    /** The CPU reserved for auxiliary threads: not isolated, and off the node if CPUs are scarce there. */
    private CpuSet reserved() {
        final CpuSet ordinary = usable.minus(topology.isolated()).isEmpty() ? usable : usable.minus(topology.isolated());
        final CpuSet elsewhere = ordinary.minus(homeCpus);
        final boolean tight = topology.cores(homeCpus).size() <= request.threads().size();
        final CpuSet from = tight && !elsewhere.isEmpty() || !ordinary.intersects(homeCpus) ? elsewhere : ordinary.and(homeCpus);
        return CpuSet.of(from.first().orElseThrow());
    }

    AffinityPlan plan() {
        describe();
        if (usable.size() == 1) {
            return onOneCpu();
        }
        final List<ThreadRole> hot = new ArrayList<>(request.threads(ThreadRole.Kind.POLLER));
        hot.addAll(request.threads(ThreadRole.Kind.HANDLER));
        final List<ThreadRole> applications = request.threads(ThreadRole.Kind.APPLICATION);
        for (int i = 0; i < hot.size(); i++) {
            place(hot.get(i), hot.size() - i, applications.size());
        }
        for (int i = 0; i < applications.size(); i++) {
            place(applications.get(i), applications.size() - i, 0);
        }
        final CpuSet pinned = CpuSet.of(cpus.values()).minus(reserved);
        final CpuSet auxiliary = auxiliary(pinned);
        final CpuSet idle = topology.siblings(pinned).minus(auxiliary);
        judge(pinned, auxiliary, idle);
        final Map<ThreadRole, WaitMode> waits = waits(auxiliary);
        final List<PlannedThread> threads = request.threads().stream().map(thread -> new PlannedThread(thread,
            OptionalInt.of(cpus.get(thread)), waits.get(thread), reasons.get(thread))).toList();
        return new AffinityPlan(threads, auxiliary, idle, home.node().id(), deviceName(), facts, givenUp);
    }

    private void describe() {
        facts.add(home.fact());
        home.lost().ifPresent(givenUp::add);
        final CpuSet here = usable.and(topology.isolated());
        facts.add("usable CPUs: " + usable + (here.isEmpty() ? ", none isolated" : ", isolated: " + here));
        topology.controlGroup().quotaCpus().ifPresent(quota -> facts.add("the control group allows "
            + trimmed(quota) + " CPUs' time in each period of " + topology.controlGroup().periodUs().orElse(0) + " us"));
    }

    private AffinityPlan onOneCpu() {
        final List<PlannedThread> threads = request.threads().stream().map(thread ->
            new PlannedThread(thread, OptionalInt.empty(), WaitMode.SLEEP, "one CPU: pinning would change nothing")).toList();
        givenUp.add("one CPU for " + request.threads().size() + " threads: each hand-off waits for a context switch; "
            + "two CPUs at least are needed to poll and handle at the same time");
        return new AffinityPlan(threads, usable, CpuSet.EMPTY, home.node().id(), deviceName(), facts, givenUp);
    }

    private Optional<String> deviceName() {
        return home.device().map(device -> device.name());
    }

    private void place(final ThreadRole thread, final int group, final int more) {
        final boolean application = thread.kind() == ThreadRole.Kind.APPLICATION;
        OptionalInt cpu = coreUnderCache();
        if (cpu.isEmpty()) {
            final Optional<CpuSet> next = pool.bestCacheGroup(homeCpus, group, more);
            if (next.isPresent()) {
                cacheGroup = next.get();
                cpu = coreUnderCache();
            }
        }
        if (cpu.isEmpty() && !application) {
            cpu = sibling(homeCpus);
        }
        final CpuSet away = usable.minus(homeCpus);
        if (cpu.isEmpty()) {
            cpu = pool.wholeCores(away).stream().mapToInt(Integer::intValue).findFirst();
        }
        if (cpu.isEmpty()) {
            cpu = sibling(usable);
        }
        if (cpu.isPresent()) {
            take(thread, cpu.getAsInt());
        } else {
            share(thread);
        }
    }

    private OptionalInt coreUnderCache() {
        return pool.wholeCores(cacheGroup).stream().mapToInt(Integer::intValue).findFirst();
    }

    private OptionalInt sibling(final CpuSet within) {
        return pool.freeSibling(within, List.copyOf(cpus.values()));
    }

    private void take(final ThreadRole thread, final int id) {
        final Cpu cpu = topology.cpu(id);
        final CpuSet besides = cpu.siblings().minus(CpuSet.of(id)).and(CpuSet.of(cpus.values()).or(reserved));
        pool.take(id);
        cpus.put(thread, id);
        final StringBuilder reason = new StringBuilder();
        reason.append(besides.isEmpty() ? "a core of its own" : "the SMT sibling of CPU " + besides)
            .append(topology.isolated().contains(id) ? ", isolated" : "")
            .append(", node ").append(cpu.node());
        final Optional<Integer> poller = request.threads(ThreadRole.Kind.POLLER).stream().findFirst().map(cpus::get);
        if (thread.kind() == ThreadRole.Kind.POLLER) {
            reason.append(home.device().isPresent() && home.lost().isEmpty() ? ", the device's" : "");
        } else if (poller.isPresent()) {
            reason.append(topology.cpu(poller.get()).cacheGroup().contains(id) ? ", under the poller's cache ("
                + cpu.cacheName() + ")" : ", under another cache than the poller");
        }
        reasons.put(thread, reason.toString());
        if (!besides.isEmpty()) {
            givenUp.add(thread.name() + " on CPU " + id + " shares its core with CPU " + besides + ": both run slower; "
                + "no whole core is left" + (homeCpus.equals(usable) ? "" : " on node " + home.node().id()));
        }
        if (cpu.node() != home.node().id()) {
            givenUp.add(thread.name() + " is on node " + cpu.node() + ", away from node " + home.node().id()
                + ": no CPU is left there");
        }
    }

    private void share(final ThreadRole thread) {
        final List<ThreadRole> handlers = cpus.keySet().stream()
            .filter(other -> other.kind() == ThreadRole.Kind.HANDLER && !reserved.contains(cpus.get(other))).toList();
        if (thread.kind() == ThreadRole.Kind.HANDLER && !handlers.isEmpty()) {
            final int cpu = handlers.stream().map(cpus::get).distinct()
                .min(Comparator.comparingLong((Integer candidate) -> cpus.values().stream().filter(candidate::equals).count())
                    .thenComparing(Comparator.reverseOrder())).orElseThrow();
            cpus.put(thread, cpu);
            reasons.put(thread, "no CPU is left: it shares a handler's");
        } else if (thread.kind() == ThreadRole.Kind.POLLER && !cpus.isEmpty()) {
            cpus.put(thread, List.copyOf(cpus.values()).getLast());
            reasons.put(thread, "no CPU is left: it shares another poller's");
        } else {
            cpus.put(thread, reserved.first().orElseThrow());
            reasons.put(thread, "no CPU is left: it runs among the auxiliary threads");
        }
    }

    private CpuSet auxiliary(final CpuSet pinned) {
        final CpuSet ordinary = usable.minus(pinned).minus(topology.siblings(pinned)).minus(topology.isolated()).or(reserved);
        final CpuSet near = ordinary.and(homeCpus);
        // With two CPUs the collector and the compiler run concurrently.
        return near.size() >= 2 ? near : ordinary;
    }

    private void judge(final CpuSet pinned, final CpuSet auxiliary, final CpuSet idle) {
        final int threads = request.threads().size();
        if (pinned.size() < threads) {
            givenUp.add(threads + " threads and the JVM's own on " + usable.size() + " CPUs: none is left for "
                + String.join(", ", request.threads().stream()
                    .filter(thread -> reasons.get(thread).startsWith("no CPU is left")).map(ThreadRole::name).toList()));
        }
        final CpuSet disturbed = pinned.minus(topology.isolated());
        if (!disturbed.isEmpty()) {
            givenUp.add(disturbed.named() + (disturbed.size() == 1 ? " is" : " are")
                + " not isolated: the scheduler may put other threads there");
        }
        final CpuSet foreign = idle.minus(usable);
        if (!foreign.isEmpty()) {
            givenUp.add(foreign.named() + (foreign.size() == 1 ? ", sibling of a pinned thread's CPU, is"
                : ", siblings of pinned threads' CPUs, are") + " outside what this process may use: "
                + "other threads there take half the core");
        }
        final CpuSet hot = CpuSet.of(cpus.entrySet().stream().filter(entry ->
            entry.getKey().kind() != ThreadRole.Kind.APPLICATION).mapToInt(Map.Entry::getValue).toArray());
        final int caches = topology.cacheGroups(hot).size();
        if (caches > 1) {
            givenUp.add("poller and handlers lie under " + caches + " caches: no single one has enough free cores for "
                + hot.size() + " of them");
        }
        if (auxiliary.and(topology.isolated()).equals(auxiliary)) {
            givenUp.add("every usable CPU is isolated: auxiliary threads on " + auxiliary + " are not balanced by the scheduler");
        }
    }

    private Map<ThreadRole, WaitMode> waits(final CpuSet auxiliary) {
        final Map<ThreadRole, WaitMode> waits = new LinkedHashMap<>();
        final double quota = topology.controlGroup().quotaCpus().orElse(Double.POSITIVE_INFINITY);
        // The time of one CPU is reserved for sleeping threads and the JVM's own: a spinning thread above the quota stops all
        // threads.
        final double spinners = Math.max(0, Math.floor(quota) - 1);
        CpuSet burning = CpuSet.EMPTY;
        final List<String> sleeping = new ArrayList<>();
        for (final ThreadRole thread : byImportance()) {
            final Integer cpu = cpus.get(thread);
            final CpuSet with = burning.or(CpuSet.of(cpu));
            if (with.size() > spinners) {
                waits.put(thread, WaitMode.SLEEP);
                sleeping.add(thread.name());
                continue;
            }
            burning = with;
            final boolean alone = cpus.values().stream().filter(cpu::equals).count() == 1
                && !auxiliary.contains(cpu);
            waits.put(thread, alone ? WaitMode.BUSY_SPIN : WaitMode.YIELD);
        }
        if (!sleeping.isEmpty()) {
            givenUp.add("the quota of " + trimmed(quota) + " CPUs lets " + (int) spinners + " of " + waits.size()
                + " threads spin: " + String.join(", ", sleeping) + " sleep instead, or the group would be stopped "
                + "for the rest of each period; raise or remove the quota");
        }
        return waits;
    }

    private List<ThreadRole> byImportance() {
        return request.threads().stream().sorted(Comparator.comparing(ThreadRole::kind)).toList();
    }

    private static String trimmed(final double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : String.format(java.util.Locale.ROOT, "%.2f", value);
    }
}
