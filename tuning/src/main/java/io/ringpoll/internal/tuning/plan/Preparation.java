package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.Optional;

/**
 * The scripts that keep other threads and interrupts away from hot CPUs.
 *
 * <p>Both act on whole cores: a core that one script closes must not be opened by the other.
 *
 * @param topology of the machine
 * @param hot      the CPUs of pollers and handlers
 */
public record Preparation(Topology topology, CpuSet hot) {
    /**
     * The hot CPUs and their SMT siblings: nothing else should run on any of them.
     *
     * @return the CPUs of the hot cores
     */
    public CpuSet cores() {
        return hot.or(topology.siblings(hot));
    }

    /**
     * Isolates the hot cores.
     *
     * @return the command; empty if the boot CPU is hot, which cannot be isolated because it keeps the time
     */
    public Optional<String> isolate() {
        final CpuSet boot = CpuSet.of(topology.online().first().orElse(0));
        return hot.intersects(boot) ? Optional.empty()
            : Optional.of("sudo tuning/scripts/isolate-cpus --cpus " + cores().minus(boot) + " --apply   # then reboot"
                + (topology.controlGroup().partitions() ? "; or at once: the partition of ./ringpoll tune plan" : ""));
    }

    /**
     * Moves interrupts away from hot cores.
     *
     * <p>The script bans the CPUs for irqbalance too, and a ban list replaces the automatic one of isolated and nohz_full CPUs:
     * it has to contain all of them, or interrupts return to those that are not hot.
     *
     * @return the command; empty if no CPU would be left for interrupts
     */
    public Optional<String> moveInterrupts() {
        final CpuSet away = cores().or(topology.isolated()).or(topology.nohzFull());
        return away.containsAll(topology.online()) ? Optional.empty()
            : Optional.of("sudo tuning/scripts/move-interrupts --away-from " + away + " --apply");
    }
}
