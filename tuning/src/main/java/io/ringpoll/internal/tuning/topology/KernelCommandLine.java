package io.ringpoll.internal.tuning.topology;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The kernel's boot options, from {@code /proc/cmdline}.
 *
 * @param options the options in order
 * @see <a href="https://www.kernel.org/doc/html/latest/admin-guide/kernel-parameters.html">kernel parameters</a>
 */
public record KernelCommandLine(List<String> options) {
    private static final Set<String> ISOLATION_FLAGS = Set.of("nohz", "domain", "managed_irq");

    /**
     * Reads the options.
     *
     * @param files the machine's files
     * @return the options; none if the file could not be read
     */
    public static KernelCommandLine read(final MachineFiles files) {
        return new KernelCommandLine(files.text("proc/cmdline").map(line -> List.of(line.split("\\s+"))).orElse(List.of()));
    }

    /**
     * Whether an option is present, with or without a value.
     *
     * @param name the option's name
     * @return true if it is
     */
    public boolean has(final String name) {
        return options.contains(name) || value(name).isPresent();
    }

    /**
     * The value of an option; the last occurrence applies.
     *
     * @param name the option's name
     * @return the text after the equals sign
     */
    public Optional<String> value(final String name) {
        return options.stream().filter(option -> option.startsWith(name + "="))
            .reduce((first, second) -> second)
            .map(option -> option.substring(name.length() + 1));
    }

    /**
     * The CPU list of an option, without its leading flags ({@code managed_irq,domain,}).
     *
     * @param name     the option's name
     * @param possible the CPUs denoted by {@code all}
     * @return the set; empty if the option is missing or is not a list
     */
    public CpuSet cpus(final String name, final CpuSet possible) {
        String list = value(name).orElse("");
        for (int comma = list.indexOf(','); comma >= 0 && ISOLATION_FLAGS.contains(list.substring(0, comma));) {
            list = list.substring(comma + 1);
            comma = list.indexOf(',');
        }
        if ("all".equals(list)) {
            return possible;
        }
        // The kernel's N is its highest CPU.
        final int last = possible.stream().max().orElse(0);
        try {
            return CpuSet.parse(list.replaceAll("\\bN\\b", Integer.toString(last)));
        } catch (final IllegalArgumentException e) {
            return CpuSet.EMPTY;
        }
    }
}
