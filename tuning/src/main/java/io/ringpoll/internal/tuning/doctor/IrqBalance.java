package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The daemon irqbalance: whether it runs, and which CPUs it leaves alone.
 *
 * <p>Three sources decide, the first one that is set: the mask {@code IRQBALANCE_BANNED_CPUS} of older releases, unless it is
 * empty; the list {@code IRQBALANCE_BANNED_CPULIST} (1.8 and newer), also if it is empty; the isolated and the nohz_full CPUs. A
 * list of one's own therefore has to repeat the isolated CPUs.
 *
 * @param banned the CPUs that it leaves alone
 * @param source the deciding source, for display
 * @param byMask whether the mask of older releases decides
 * @see <a href="https://github.com/Irqbalance/irqbalance/blob/master/irqbalance.1">irqbalance(1)</a>
 */
record IrqBalance(CpuSet banned, String source, boolean byMask) {
    private static final String MASK = "IRQBALANCE_BANNED_CPUS";
    private static final String LIST = "IRQBALANCE_BANNED_CPULIST";
    /** Environment files of its service, by distribution; of two assignments the later one counts. */
    private static final List<String> SETTINGS = List.of("etc/irqbalance.env", "etc/default/irqbalance",
        "etc/sysconfig/irqbalance");
    private static final String CPU = "sys/devices/system/cpu/";

    /** The running daemon; empty if no process has its name. */
    static Optional<IrqBalance> running(final MachineFiles files) {
        return files.process("irqbalance").map(pid -> of(files, environment(files, pid)));
    }

    private static IrqBalance of(final MachineFiles files, final Map<String, String> environment) {
        final String mask = environment.getOrDefault(MASK, "");
        if (!mask.isEmpty()) {
            return new IrqBalance(parsed(() -> CpuSet.parseMask(mask)), MASK + "=" + mask, true);
        }
        if (environment.containsKey(LIST)) {
            final String list = environment.get(LIST);
            return new IrqBalance(parsed(() -> CpuSet.parse(list)), LIST + "=" + list, false);
        }
        return new IrqBalance(files.cpuSet(CPU + "isolated").orElse(CpuSet.EMPTY)
            .or(files.cpuSet(CPU + "nohz_full").orElse(CpuSet.EMPTY)), "its default, isolated and nohz_full CPUs", false);
    }

    /** An unreadable list bans nothing. */
    private static CpuSet parsed(final Supplier<CpuSet> parser) {
        try {
            return parser.get();
        } catch (final IllegalArgumentException e) {
            return CpuSet.EMPTY;
        }
    }

    /** The environment of the process, which only root can read, or else of the files that its service reads. */
    private static Map<String, String> environment(final MachineFiles files, final String pid) {
        final Map<String, String> own = files.environment(pid);
        if (!own.isEmpty()) {
            return own;
        }
        final Map<String, String> variables = new HashMap<>();
        SETTINGS.stream().flatMap(path -> files.text(path).stream()).flatMap(String::lines).map(String::strip)
            .filter(line -> line.startsWith("IRQBALANCE_") && line.contains("=")).forEach(line ->
                variables.put(line.substring(0, line.indexOf('=')), unquoted(line.substring(line.indexOf('=') + 1))));
        return variables;
    }

    private static String unquoted(final String value) {
        return value.strip().replaceAll("^([\"'])(.*)\\1$", "$2").strip();
    }
}
