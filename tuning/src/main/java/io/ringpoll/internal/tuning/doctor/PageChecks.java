package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Checks of the kernel's moving and merging of pages. */
final class PageChecks {
    private static final String TRANSPARENT = "sys/kernel/mm/transparent_hugepage/";
    private static final String MERGING = "sys/kernel/mm/ksm/run";

    private PageChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("transparent-huge-pages", "transparent huge pages",
                "With 'always' the kernel collects and compacts pages behind the back of a running process and stalls it "
                    + "meanwhile.", HIGH, MACHINE, PageChecks::transparent, OK, WARNING, UNKNOWN),
            new Check("huge-page-defrag", "defragmentation for transparent huge pages",
                "With 'always' a page fault waits until the kernel has freed and moved pages for a huge one.",
                HIGH, MACHINE, PageChecks::defrag, OK, WARNING, UNKNOWN),
            new Check("compaction", "background compaction of memory",
                "The kernel moves pages of running processes, locked ones too, to make room for huge ones: an access faults.",
                LOW, MACHINE, PageChecks::compaction, OK, WARNING, UNKNOWN),
            new Check("page-merging", "merging of equal pages (KSM)",
                "A thread of the kernel compares pages all the time, and a write to a merged page costs a fault.",
                LOW, MACHINE, PageChecks::merging, OK, WARNING, UNKNOWN));
    }

    private static Finding transparent(final Examined machine) {
        final Reading enabled = machine.files().read(TRANSPARENT + "enabled");
        if (enabled.value().isEmpty()) {
            return Finding.unknown(enabled.isPresent() ? enabled.path() + " is empty"
                : "this kernel has no transparent huge pages (" + enabled.reason() + ")");
        }
        final String mode = chosen(enabled.text());
        return "always".equals(mode) ? Finding.warning(mode, Examined.script("huge-pages --transparent madvise"))
            : Finding.ok(mode);
    }

    /** The choice in brackets. */
    private static String chosen(final String choices) {
        final int start = choices.indexOf('[');
        final int end = choices.indexOf(']', start + 1);
        return start < 0 || end < 0 ? choices : choices.substring(start + 1, end);
    }

    private static Finding defrag(final Examined machine) {
        final Reading reading = machine.files().read(TRANSPARENT + "defrag");
        if (reading.value().isEmpty()) {
            return Finding.unknown(reading.isPresent() ? reading.path() + " is empty" : reading.reason());
        }
        final String mode = chosen(reading.text());
        return "always".equals(mode) ? Finding.warning(mode, Examined.write("madvise", TRANSPARENT + "defrag"))
            : Finding.ok(mode);
    }

    private static Finding compaction(final Examined machine) {
        final MachineFiles files = machine.files();
        final OptionalLong proactive = files.number("proc/sys/vm/compaction_proactiveness");
        final OptionalLong locked = files.number("proc/sys/vm/compact_unevictable_allowed");
        if (proactive.isEmpty() && locked.isEmpty()) {
            return Finding.unknown("this kernel shows no setting");
        }
        final List<String> reading = new ArrayList<>();
        final StringBuilder settings = new StringBuilder();
        if (proactive.orElse(0) > 0) {
            reading.add("proactiveness " + proactive.getAsLong());
            settings.append(" vm.compaction_proactiveness=0");
        }
        if (locked.orElse(0) > 0) {
            reading.add("locked pages too");
            settings.append(" vm.compact_unevictable_allowed=0");
        }
        return reading.isEmpty() ? Finding.ok("only on demand, locked pages excluded")
            : Finding.warning(String.join(", ", reading), "sudo sysctl" + settings);
    }

    private static Finding merging(final Examined machine) {
        final Reading reading = machine.files().read(MERGING);
        if (reading.value().isEmpty()) {
            return Finding.unknown(reading.isPresent() ? reading.path() + " is empty" : reading.reason());
        }
        return "1".equals(reading.text()) ? Finding.warning("on", Examined.write("0", MERGING)) : Finding.ok("off");
    }
}
