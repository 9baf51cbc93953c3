package io.ringpoll.internal.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * One of this process's threads as the kernel sees it: which CPUs it may use, where it ran last, how often it was switched out.
 *
 * <p>Made on the thread itself, may be asked from any thread while that one lives. Each question reads files of {@code /proc}:
 * tens of microseconds, not for the hot path.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_status.5.html">proc_pid_status(5)</a>
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html">proc_pid_stat(5)</a>
 */
public final class KernelThread {
    /** Position of the field "processor" after the command's name in {@code stat}, of which the first is field 3. */
    private static final int PROCESSOR_FIELD = 39 - 3;
    private static final int MAX_CPUS = 1 << 16;

    private final int id;

    /**
     * State of a thread in the kernel at one moment.
     *
     * @param allowedCpus         the CPUs of its affinity mask
     * @param lastCpu             the CPU it runs on, or ran on last
     * @param voluntarySwitches   voluntary context switches since its start
     * @param involuntarySwitches involuntary context switches since its start
     */
    public record State(BitSet allowedCpus, int lastCpu, long voluntarySwitches, long involuntarySwitches) {
        /** Copies the set. */
        public State {
            allowedCpus = (BitSet) allowedCpus.clone();
        }

        /**
         * The CPUs of its affinity mask.
         *
         * @return a copy
         */
        @Override
        public BitSet allowedCpus() {
            return (BitSet) allowedCpus.clone();
        }
    }

    private KernelThread(final int id) {
        this.id = id;
    }

    /**
     * The calling thread. For platform threads: a virtual thread gets its carrier.
     *
     * @return it
     * @throws IllegalStateException if {@code /proc} is not mounted
     */
    public static KernelThread current() {
        try {
            return new KernelThread(Integer.parseInt(
                Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString()));
        } catch (final IOException e) {
            throw new IllegalStateException("the kernel does not report the thread's number: " + e.getMessage(), e);
        }
    }

    /**
     * The kernel's number of the thread, as tools like {@code top -H} show it.
     *
     * @return its number
     */
    public int id() {
        return id;
    }

    /**
     * Asks the kernel.
     *
     * @return the thread's state now; nothing if the thread has ended
     */
    public Optional<State> state() {
        final Path folder = Path.of("/proc/self/task", Integer.toString(id));
        try {
            final String stat = Files.readString(folder.resolve("stat"));
            final List<String> status = Files.readAllLines(folder.resolve("status"));
            // The command's name, in parentheses, may hold blanks and parentheses itself.
            final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Optional.of(new State(cpus(value(status, "Cpus_allowed_list:")), Integer.parseInt(fields[PROCESSOR_FIELD]),
                Long.parseLong(value(status, "voluntary_ctxt_switches:")),
                Long.parseLong(value(status, "nonvoluntary_ctxt_switches:"))));
        } catch (final IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Checks that a thread is where it was put: its mask is that one CPU, and that is where it ran last.
     *
     * <p>A mask changes behind a thread's back when somebody uses {@code taskset -p} on it, when its cpuset changes, or when
     * its CPU is taken offline.
     *
     * @param cpu the CPU that the thread was pinned to
     * @return the deviation in one sentence; empty if there is none or the thread has ended
     */
    public Optional<String> strayedFrom(final int cpu) {
        return state().flatMap(state -> deviation(state, cpu));
    }

    /** The deviation of a state from a pin. */
    Optional<String> deviation(final State state, final int cpu) {
        final BitSet allowed = state.allowedCpus();
        if (allowed.cardinality() != 1 || !allowed.get(cpu)) {
            return Optional.of("thread " + id + " was pinned to CPU " + cpu + ", and its mask now allows " + allowed);
        }
        return state.lastCpu() == cpu ? Optional.empty()
            : Optional.of("thread " + id + " was pinned to CPU " + cpu + ", and ran last on CPU " + state.lastCpu());
    }

    private static String value(final List<String> status, final String key) throws IOException {
        return status.stream().filter(line -> line.startsWith(key)).findFirst().map(line -> line.substring(key.length()).strip())
            .orElseThrow(() -> new IOException("no " + key));
    }

    private static BitSet cpus(final String list) {
        final BitSet cpus = new BitSet();
        for (final String part : list.split(",")) {
            final int dash = part.indexOf('-');
            final int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
            final int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
            cpus.set(first, Math.min(last, MAX_CPUS) + 1);
        }
        return cpus;
    }
}
