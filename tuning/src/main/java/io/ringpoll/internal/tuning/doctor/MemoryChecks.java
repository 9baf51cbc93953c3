package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Scope.PROCESS;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** Checks of memory that must stay where it is: the limit of locked memory, swap, NUMA balancing. */
final class MemoryChecks {
    /** The rings and buffers of a few connections need at least this amount of locked memory. */
    private static final long LEAST_LOCKED = 1 << 20;
    private static final long ENOUGH_LOCKED = 1 << 30;
    private static final int CAP_IPC_LOCK = 14;

    private MemoryChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("locked-memory", "locked memory (ulimit -l)",
                "Registering memory with a device locks it: over the limit, registration fails with ENOMEM.",
                HIGH, PROCESS, MemoryChecks::locked, OK, WARNING, BAD, UNKNOWN),
            new Check("swap", "swap",
                "A page that was swapped out costs milliseconds when a handler touches it.",
                HIGH, MACHINE, MemoryChecks::swap, OK, WARNING, BAD, UNKNOWN),
            new Check("numa-balancing", "automatic NUMA balancing",
                "It unmaps pages to detect their users: each such page costs the ring's threads a fault.",
                MEDIUM, MACHINE, MemoryChecks::numaBalancing, OK, WARNING, UNKNOWN));
    }

    private static Finding locked(final Examined machine) {
        final Reading limits = machine.files().read("proc/self/limits");
        final Optional<String> line = limits.text().lines().filter(text -> text.startsWith("Max locked memory")).findFirst();
        if (line.isEmpty()) {
            return Finding.unknown(limits.isPresent() ? "/proc/self/limits shows no limit for locked memory"
                : limits.reason());
        }
        final String soft = line.get().substring("Max locked memory".length()).strip().split("\\s+")[0];
        if ("unlimited".equals(soft)) {
            return Finding.ok("unlimited");
        }
        final long bytes = Long.parseLong(soft);
        final String size = bytes >= LEAST_LOCKED ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
        if (mayLockAnyway(machine.files())) {
            return Finding.ok(size + ", and this process has CAP_IPC_LOCK, which lifts it");
        }
        final String command = Examined.script("locked-memory --user \"$USER\"") + "   # then log in again";
        return bytes < LEAST_LOCKED ? Finding.bad(size, command)
            : bytes < ENOUGH_LOCKED ? Finding.warning(size, command) : Finding.ok(size);
    }

    private static boolean mayLockAnyway(final MachineFiles files) {
        return files.text("proc/self/status").stream().flatMap(String::lines).filter(line -> line.startsWith("CapEff:"))
            .map(line -> line.substring("CapEff:".length()).strip()).filter(mask -> mask.matches("[0-9a-f]{1,16}"))
            .anyMatch(mask -> (Long.parseUnsignedLong(mask, 16) >>> CAP_IPC_LOCK & 1) != 0);
    }

    private static Finding swap(final Examined machine) {
        final Reading swaps = machine.files().read("proc/swaps");
        if (!swaps.isPresent()) {
            return Finding.unknown(swaps.reason());
        }
        final OptionalLong mine = machine.files().text("proc/self/status").stream().flatMap(String::lines)
            .filter(line -> line.matches("VmSwap:\\s+\\d{1,15} kB")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
            .findFirst();
        final String command = "sudo swapoff -a   # and remove it from /etc/fstab";
        if (mine.orElse(0) > 0) {
            return Finding.bad(mine.getAsLong() + " KiB of this process are swapped out", command);
        }
        final List<String> areas = swaps.text().lines().skip(1).filter(line -> !line.isBlank()).toList();
        if (areas.isEmpty()) {
            return Finding.ok("none");
        }
        long kib = 0;
        for (final String area : areas) {
            final String[] fields = area.strip().split("\\s+");
            kib += fields.length > 2 && fields[2].matches("\\d{1,15}") ? Long.parseLong(fields[2]) : 0;
        }
        final String swappiness = machine.files().text("proc/sys/vm/swappiness").map(value -> ", swappiness " + value).orElse("");
        return Finding.warning(String.format(Locale.ROOT, "%.1f GiB%s", kib / 1048576.0, swappiness), command);
    }

    private static Finding numaBalancing(final Examined machine) {
        final OptionalLong on = machine.files().number("proc/sys/kernel/numa_balancing");
        final int nodes = machine.topology().cpuNodes().size();
        if (on.isEmpty()) {
            return nodes == 1 ? Finding.ok("one NUMA node") : Finding.unknown("this kernel does not show whether it balances");
        }
        if (on.getAsLong() == 0) {
            return Finding.ok("off");
        }
        return nodes == 1 ? Finding.ok("on, and without effect: there is one NUMA node")
            : Finding.warning("on, with " + nodes + " nodes", "sudo sysctl kernel.numa_balancing=0");
    }
}
