package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Interrupt;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Checks of device interrupts on hot CPUs and their SMT siblings. */
final class InterruptChecks {
    private static final int SHOWN = 4;
    private static final String NETS = "sys/class/net/";

    private InterruptChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("interrupt-affinity", "interrupts on hot CPUs",
                "Each device interrupt takes the CPU from the poller for microseconds, and its soft interrupt for more.",
                HIGH, MACHINE, InterruptChecks::interrupts, OK, WARNING, UNKNOWN),
            new Check("irqbalance", "irqbalance",
                "The daemon moves interrupts between CPUs every ten seconds, also onto hot ones that it is not configured to "
                    + "exclude.", MEDIUM, MACHINE, InterruptChecks::balancer, OK, WARNING, UNKNOWN),
            new Check("receive-steering", "receive packet steering (RPS)",
                "The kernel processes packets of the network on the CPUs that an interface's mask names.",
                MEDIUM, MACHINE, InterruptChecks::steering, OK, WARNING, UNKNOWN));
    }

    private static Finding interrupts(final Examined machine) {
        final List<Interrupt> all = machine.topology().interrupts().stream().filter(Interrupt::ofDevice).toList();
        if (all.stream().allMatch(interrupt -> interrupt.allowed().isEmpty())) {
            final Reading reading = machine.files().read("proc/interrupts");
            return Finding.unknown(reading.isPresent() ? "/proc/irq shows no affinity" : reading.reason());
        }
        final CpuSet cores = machine.hotCores();
        final List<Interrupt> here = all.stream().filter(interrupt -> interrupt.effective().intersects(cores)).toList();
        if (here.isEmpty()) {
            return Finding.ok("none of " + all.size() + " is sent to hot " + machine.hot().named());
        }
        final Stream<String> named = here.stream().limit(SHOWN).map(interrupt -> interrupt.label() + " (" + interrupt.id()
            + ", CPU " + interrupt.effective().and(cores) + ")");
        return Finding.warning(String.join(", ", named.toList()) + (here.size() > SHOWN ? " and " + (here.size() - SHOWN)
            + " more" : ""), moveAway(machine));
    }

    private static Finding balancer(final Examined machine) {
        final Optional<IrqBalance> daemon = IrqBalance.running(machine.files());
        if (daemon.isEmpty()) {
            return machine.surroundings().kind().isContainer() ? Finding.unknown("the host's processes are not visible")
                : Finding.ok("not running");
        }
        final CpuSet open = machine.hotCores().minus(daemon.get().banned());
        if (open.isEmpty()) {
            return Finding.ok("running, excludes hot " + machine.hot().named() + " by " + daemon.get().source());
        }
        return Finding.warning("running, and free to use " + open.named() + " by " + daemon.get().source(),
            moveAway(machine) + (daemon.get().byMask()
                ? "   # and remove IRQBALANCE_BANNED_CPUS, which takes precedence over the list" : ""));
    }

    private static Finding steering(final Examined machine) {
        final MachineFiles files = machine.files();
        final Set<String> steered = new TreeSet<>();
        boolean shown = false;
        for (final String net : files.names(NETS)) {
            for (final String queue : files.names(NETS + net + "/queues")) {
                final Optional<CpuSet> mask = files.cpuMask(NETS + net + "/queues/" + queue + "/rps_cpus");
                shown |= mask.isPresent();
                if (mask.filter(cpus -> cpus.intersects(machine.hotCores())).isPresent()) {
                    steered.add(net);
                }
            }
        }
        if (steered.isEmpty()) {
            return shown ? Finding.ok("no interface steers packets to hot " + machine.hot().named())
                : Finding.unknown("no interface shows its mask");
        }
        return Finding.warning("to hot " + machine.hot().named() + ": " + String.join(", ", steered),
            Examined.write(machine.others().mask(), steered.stream().map(net -> NETS + net + "/queues/rx-*/rps_cpus")
                .toArray(String[]::new)));
    }

    private static String moveAway(final Examined machine) {
        return machine.preparation().moveInterrupts().orElse("./ringpoll tune plan   # no CPU is left for interrupts");
    }
}
