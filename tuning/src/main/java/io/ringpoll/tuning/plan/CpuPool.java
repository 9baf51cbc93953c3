package io.ringpoll.tuning.plan;

import io.ringpoll.tuning.topology.CpuSet;
import io.ringpoll.tuning.topology.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The CPUs that are still to be had while a plan is made, whole cores apart from the siblings of cores in use.
 *
 * <p>One plan, one thread. A whole core is one of which nothing is taken and nothing reserved; it is offered as one CPU,
 * the isolated one if only one of its CPUs is isolated, else the lowest.
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

    /** The CPUs, one a core, of the whole cores among the given CPUs, the best first. */
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
     * The cache group whose whole cores suit a number of threads best: most isolated ones, then most at all, then room for
     * {@code more} threads beside them, then without the boot CPU.
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

    /** A free CPU on a core that something else uses: the reserved CPU's sibling first, then those of the last taken. */
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
