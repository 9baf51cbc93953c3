package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks of a hypervisor below the kernel. */
final class HypervisorChecks {
    private HypervisorChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("virtualisation", "virtual machine",
                "A hypervisor takes the CPU away without notice, and the guest's isolation does not hold it back.",
                MEDIUM, MACHINE, HypervisorChecks::virtualisation, OK, WARNING, UNKNOWN),
            new Check("steal-time", "steal time",
                "Time that the hypervisor gave to other guests while this machine was runnable delays completions.",
                HIGH, MACHINE, HypervisorChecks::steal, OK, WARNING, BAD, UNKNOWN));
    }

    private static Finding virtualisation(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> cpuinfo = files.text("proc/cpuinfo");
        final String vendor = files.text("sys/class/dmi/id/sys_vendor").orElse("");
        final boolean known = vendor.matches("QEMU|Amazon EC2|Google|VMware, Inc\\.|Xen|innotek GmbH|OpenStack Foundation|KVM"
            + "|DigitalOcean|Hetzner|Alibaba Cloud");
        final boolean flagged = cpuinfo.stream().flatMap(String::lines)
            .anyMatch(line -> line.startsWith("flags") && line.matches(".*\\bhypervisor\\b.*"));
        if (flagged || known || files.exists("sys/hypervisor/type") || files.exists("proc/device-tree/hypervisor")) {
            return Finding.warning("under a hypervisor" + (vendor.isEmpty() ? "" : " (" + vendor + ")"),
                "measure it: ./ringpoll tune jitter --cpus " + machine.hot()
                    + " --seconds 30; for steady tails use bare metal or "
                    + "dedicated CPUs");
        }
        final boolean x86 = cpuinfo.filter(text -> text.contains("flags")).isPresent();
        return x86 || !vendor.isEmpty() ? Finding.ok("none seen" + (vendor.isEmpty() ? "" : " (" + vendor + ")"))
            : Finding.unknown("neither /proc/cpuinfo nor /sys/class/dmi reports a hypervisor");
    }

    private static Finding steal(final Examined machine) {
        final String[] fields = machine.files().text("proc/stat").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("cpu ")).map(line -> line.substring(4).strip().split("\\s+")).findFirst()
            .orElse(new String[0]);
        // user nice system idle iowait irq softirq steal
        if (fields.length < 8 || !Stream.of(fields).allMatch(field -> field.matches("\\d{1,18}"))) {
            return Finding.unknown("/proc/stat shows no steal time");
        }
        long total = 0;
        for (int i = 0; i < 8; i++) {
            total += Long.parseLong(fields[i]);
        }
        final double percent = 100.0 * Long.parseLong(fields[7]) / Math.max(1, total);
        final String reading = String.format(java.util.Locale.ROOT, "%.3f %% of all CPU time since boot", percent);
        if (percent == 0) {
            return Finding.ok("none since boot");
        }
        final String command = "./ringpoll tune jitter --cpus " + machine.hot()
            + " --seconds 30   # shows it as it happens; ask the "
            + "provider for dedicated CPUs";
        return percent >= 1 ? Finding.bad(reading, command) : Finding.warning(reading, command);
    }
}
