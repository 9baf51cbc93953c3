package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.Reading;
import java.util.List;

/** Checks of the kernel's moving and merging of pages. */
final class PageChecks {
    private PageChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("transparent-huge-pages", "transparent huge pages",
                "With 'always' the kernel collects and compacts pages behind the back of a running process and stalls it "
                    + "meanwhile.", HIGH, MACHINE, PageChecks::transparent, OK, WARNING, UNKNOWN));
    }

    private static Finding transparent(final Examined machine) {
        final Reading enabled = machine.files().read("sys/kernel/mm/transparent_hugepage/enabled");
        if (enabled.value().isEmpty()) {
            return Finding.unknown(enabled.isPresent() ? enabled.path() + " is empty"
                : "this kernel has no transparent huge pages (" + enabled.reason() + ")");
        }
        final String mode = enabled.text().replaceAll(".*\\[(.*)\\].*", "$1");
        return "always".equals(mode) ? Finding.warning(mode, Examined.script("huge-pages --transparent madvise"))
            : Finding.ok(mode);
    }
}
