package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.RdmaDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** Checks of the way between the adapter and the memory. */
final class PcieChecks {
    private static final String CLASS = "sys/class/infiniband/";
    /** The largest size that PCI Express has. */
    private static final int FULL_READ_REQUEST = 4096;

    private PcieChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("pcie-link", "PCIe link of the adapter",
                "A link that is narrower or slower than the adapter supports halves the rate and adds to each doorbell.",
                MEDIUM, MACHINE, PcieChecks::link, OK, WARNING, UNKNOWN),
            new Check("iommu", "IOMMU mode of the adapter",
                "A translating IOMMU looks up each address of the adapter: a miss in its cache adds to a message's latency.",
                MEDIUM, MACHINE, PcieChecks::iommu, OK, WARNING, UNKNOWN),
            new Check("pcie-aspm", "PCIe power management (ASPM) of the adapter",
                "A link in a low-power state takes microseconds to wake up for the next doorbell or completion.",
                MEDIUM, MACHINE, PcieChecks::aspm, OK, WARNING, UNKNOWN),
            new Check("pcie-read-request", "PCIe maximum read request of the adapter",
                "The adapter reads the payload of large messages in pieces of this size: more pieces, more round trips.",
                LOW, MACHINE, PcieChecks::readRequest, OK, WARNING, UNKNOWN),
            new Check("pcie-relaxed-ordering", "PCIe relaxed ordering of the adapter",
                "Where writes may not overtake one another, a write to distant memory holds up all that follow.",
                LOW, MACHINE, PcieChecks::relaxedOrdering, OK, WARNING, UNKNOWN));
    }

    private static Finding iommu(final Examined machine) {
        final List<String> direct = new ArrayList<>();
        final List<String> translated = new ArrayList<>();
        for (final RdmaDevice device : machine.hardware()) {
            final String group = CLASS + device.name() + "/device/iommu_group";
            final Optional<String> type = machine.files().text(group + "/type");
            if (!machine.files().exists(group) && machine.files().exists("sys/kernel/iommu_groups")) {
                direct.add(device.name() + " behind no IOMMU");
            } else if (type.filter("identity"::equals).isPresent()) {
                direct.add(device.name() + " identity");
            } else if (type.filter(mode -> mode.startsWith("DMA")).isPresent()) {
                translated.add(device.name() + " " + type.get());
            }
        }
        if (direct.isEmpty() && translated.isEmpty()) {
            return Finding.unknown(machine.hardware().isEmpty() ? "no adapter" : "this kernel does not show the mode");
        }
        final boolean arm = machine.files().exists("sys/firmware/devicetree") || machine.files().text("proc/cpuinfo")
            .filter(text -> text.contains("CPU implementer")).isPresent();
        return translated.isEmpty() ? Finding.ok(String.join("; ", direct)) : Finding.warning(String.join("; ", translated),
            machine.bootOption(arm ? "iommu.passthrough=1" : "iommu=pt") + "   # devices can reach all memory then");
    }

    private static Finding aspm(final Examined machine) {
        if (machine.hardware().isEmpty()) {
            return Finding.unknown("no adapter");
        }
        final List<String> enabled = new ArrayList<>();
        boolean shown = false;
        for (final RdmaDevice device : machine.hardware()) {
            final String folder = CLASS + device.name() + "/device/link";
            for (final String state : machine.files().names(folder)) {
                if (state.endsWith("_aspm")) {
                    shown = true;
                    if (machine.files().number(folder + "/" + state).orElse(0) == 1) {
                        enabled.add(folder + "/" + state);
                    }
                }
            }
        }
        if (!enabled.isEmpty()) {
            return Finding.warning(String.join(", ", enabled.stream().map(path -> path.substring(CLASS.length())
                .replace("/device/link/", " ")).toList()), Examined.write("0", enabled.toArray(new String[0])));
        }
        if (shown) {
            return Finding.ok("off");
        }
        final Optional<String> policy = machine.files().text("sys/module/pcie_aspm/parameters/policy");
        return policy.filter(text -> text.contains("[performance]")).isPresent() ? Finding.ok("off by the policy performance")
            : Finding.unknown("the kernel shows no setting of the link", "sudo lspci -vv | grep -e ASPM -e '^[0-9a-f]'");
    }

    /** The adapters' configuration; a reason if none can be read. */
    private static Finding configuration(final Examined machine,
                                         final BiFunction<String, PciConfiguration, Finding> examination) {
        Finding unreadable = Finding.unknown("no adapter");
        Finding worst = null;
        for (final RdmaDevice device : machine.hardware()) {
            final Optional<PciConfiguration> read =
                PciConfiguration.of(machine.files().read(CLASS + device.name() + "/device/config"));
            if (read.isPresent()) {
                final Finding finding = examination.apply(device.name(), read.get());
                worst = worst == null || finding.verdict().compareTo(worst.verdict()) > 0 ? finding : worst;
            } else {
                unreadable = Finding.unknown("reading the configuration of " + device.name() + " needs root",
                    "sudo ./ringpoll doctor");
            }
        }
        return worst == null ? unreadable : worst;
    }

    private static Finding readRequest(final Examined machine) {
        return configuration(machine, (name, pci) -> {
            final String reading = name + " " + pci.maxReadRequestBytes() + " bytes";
            final String address = machine.topology().rdmaDevice(name).flatMap(RdmaDevice::pciAddress).orElse("ADDRESS");
            return pci.maxReadRequestBytes() >= FULL_READ_REQUEST ? Finding.ok(reading)
                : Finding.warning(reading, "sudo setpci -s " + address + " CAP_EXP+8.w=5000:7000");
        });
    }

    /** The kernel switches it off below root ports with known faults: to force it there can corrupt data. */
    private static Finding relaxedOrdering(final Examined machine) {
        return configuration(machine, (name, pci) -> pci.relaxedOrdering() ? Finding.ok(name + " allowed")
            : Finding.warning(name + " off", "enable relaxed ordering in the firmware setup of the machine; the kernel's reason "
                + "against it: sudo dmesg | grep -i 'relaxed ordering'"));
    }

    private static Finding link(final Examined machine) {
        final List<String> good = new ArrayList<>();
        final List<String> poor = new ArrayList<>();
        for (final RdmaDevice device : machine.hardware()) {
            final String folder = CLASS + device.name() + "/device/";
            final Optional<String> speed = machine.files().text(folder + "current_link_speed");
            final Optional<String> width = machine.files().text(folder + "current_link_width");
            if (speed.isPresent() && width.isPresent()) {
                final String now = speed.get() + " x" + width.get();
                final String most = machine.files().text(folder + "max_link_speed").orElse(speed.get()) + " x"
                    + machine.files().text(folder + "max_link_width").orElse(width.get());
                (now.equals(most) ? good : poor).add(device.name() + " " + now + (now.equals(most) ? "" : " of " + most));
            }
        }
        if (good.isEmpty() && poor.isEmpty()) {
            return Finding.unknown("no adapter with a PCIe link is shown");
        }
        return poor.isEmpty() ? Finding.ok(String.join("; ", good)) : Finding.warning(String.join("; ", poor),
            "move the adapter to a slot with all lanes, then: sudo lspci -vv | grep LnkSta");
    }
}
