package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.RdmaDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks of the way between the adapter and the memory. */
final class PcieChecks {
    private static final String CLASS = "sys/class/infiniband/";

    private PcieChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("pcie-link", "PCIe link of the adapter",
                "A link that is narrower or slower than the adapter supports halves the rate and adds to each doorbell.",
                MEDIUM, MACHINE, PcieChecks::link, OK, WARNING, UNKNOWN));
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
