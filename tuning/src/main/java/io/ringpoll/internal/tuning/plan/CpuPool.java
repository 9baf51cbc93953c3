package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The free CPUs during the computation of a plan; whole cores are separate from the siblings of cores in use.
 *
 * <p>Confined to one plan and thread. A core is whole if none of its CPUs is taken or reserved. It is offered as one CPU: the
 * isolated one if only one is isolated, otherwise the lowest.
 */
final class CpuPool {
    private final Topology topology;
    private final CpuSet usable;
    private final CpuSet reserved;
    private CpuSet taken = CpuSet.EMPTY;

    CpuPool(final Topology topology, final CpuSet usable, final CpuSet reserved) {
        this.topology = topology;
        this.usable = usable;
        this.reserved = reserved;
    }

    /** One CPU of each whole core among the given CPUs, best first. */
    List<Integer> wholeCores(final CpuSet within) {
        final List<Integer> cpus = new ArrayList<>();
        for (final CpuSet core : topology.cores(within.and(usable))) {
            if (!core.intersects(taken.or(reserved))) {
                cpus.add(offered(core.and(within).and(usable)));
            }
        }
        final int boot = topology.online().first().orElse(0);
        cpus.sort(Comparator.comparing((Integer cpu) -> !isolated(cpu))
            .thenComparing(cpu -> topology.cpu(cpu).siblings().contains(boot)).thenComparing(Comparator.naturalOrder()));
        return cpus;
    }

    private int offered(final CpuSet core) {
        final OptionalInt isolated = core.and(topology.isolated()).first();
        return isolated.isPresent() ? isolated.getAsInt() : core.first().orElseThrow();
    }

    /**
     * The cache group with the best whole cores for a number of threads: most isolated cores, then most cores, then room for
     * {@code more} additional threads, then without the boot CPU.
     */
    Optional<CpuSet> bestCacheGroup(final CpuSet within, final int threads, final int more) {
        final int boot = topology.online().first().orElse(0);
        CpuSet best = null;
        long bestScore = 0;
        for (final CpuSet group : topology.cacheGroups(within.and(usable))) {
            final List<Integer> cores = wholeCores(group);
            final int isolated = (int) cores.stream().filter(this::isolated).count();
            final long bootFree = group.contains(boot) ? 0 : 1;
            final long score = ((Math.min(isolated, threads) * 100_000L + Math.min(cores.size(), threads)) * 100_000L
                + Math.min(cores.size(), threads + more)) * 2 + bootFree;
            if (!cores.isEmpty() && score > bestScore) {
                best = group;
                bestScore = score;
            }
        }
        return Optional.ofNullable(best);
    }

    /** A free CPU on a core in use: first the reserved CPU's sibling, then those of the CPUs taken last. */
    OptionalInt freeSibling(final CpuSet within, final List<Integer> takenInOrder) {
        final CpuSet free = within.and(usable).minus(taken).minus(reserved);
        final OptionalInt besideReserved = topology.siblings(reserved).and(free).first();
        if (besideReserved.isPresent()) {
            return besideReserved;
        }
        return takenInOrder.reversed().stream()
            .map(cpu -> topology.cpu(cpu).siblings().and(free).first())
            .filter(OptionalInt::isPresent).findFirst().orElse(OptionalInt.empty());
    }

    void take(final int cpu) {
        taken = taken.or(CpuSet.of(cpu));
    }

    boolean isolated(final int cpu) {
        return topology.isolated().contains(cpu);
    }
}
