package io.ringpoll.internal.tuning.topology;

import java.math.BigInteger;
import java.util.BitSet;
import java.util.Collection;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * An immutable set of CPU numbers, of any size, read and written in the kernel's list format ({@code 0-3,8}).
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/cpuset.7.html">cpuset(7), list format</a>
 */
public final class CpuSet {
    /** The set without any CPU. */
    public static final CpuSet EMPTY = new CpuSet(new BitSet());

    /** A larger number is rejected as a mistake: the largest kernels are built for 8192 CPUs. */
    private static final int MAX_CPU = 65_535;

    private final BitSet bits;

    private CpuSet(final BitSet bits) {
        this.bits = bits;
    }

    /**
     * A set of the given CPUs.
     *
     * @param cpus the CPU numbers
     * @return the set
     */
    public static CpuSet of(final int... cpus) {
        final BitSet bits = new BitSet();
        for (final int cpu : cpus) {
            bits.set(cpu);
        }
        return new CpuSet(bits);
    }

    /**
     * A set of the given CPUs.
     *
     * @param cpus the CPU numbers
     * @return the set
     */
    public static CpuSet of(final Collection<Integer> cpus) {
        return of(cpus.stream().mapToInt(Integer::intValue).toArray());
    }

    /**
     * All CPUs from one number to another.
     *
     * @param first the lowest CPU
     * @param last  the highest CPU, included
     * @return the set, empty if {@code last} is below {@code first}
     */
    public static CpuSet range(final int first, final int last) {
        return of(IntStream.rangeClosed(first, last).toArray());
    }

    /**
     * Parses the kernel's list format: numbers and ranges separated by commas, a range with an optional {@code :used/group}. The
     * kernel writes the empty set as an empty line, or as {@code (null)} in older releases.
     *
     * @param list the text, surrounding white space is ignored
     * @return the set
     * @throws IllegalArgumentException if the text is not such a list; the message contains the invalid part
     */
    public static CpuSet parse(final String list) {
        final String text = list.strip();
        if (text.isEmpty() || "(null)".equals(text)) {
            return EMPTY;
        }
        final BitSet bits = new BitSet();
        for (final String part : text.split(",", -1)) {
            addPart(bits, part.strip(), text);
        }
        return new CpuSet(bits);
    }

    private static void addPart(final BitSet bits, final String part, final String text) {
        final int colon = part.indexOf(':');
        final String span = colon < 0 ? part : part.substring(0, colon);
        final int dash = span.indexOf('-');
        final int first = number(dash < 0 ? span : span.substring(0, dash), text);
        final int last = dash < 0 ? first : number(span.substring(dash + 1), text);
        if (last < first) {
            throw new IllegalArgumentException("CPU list '" + text + "': the range '" + part + "' runs backwards");
        }
        if (colon < 0) {
            bits.set(first, last + 1);
            return;
        }
        final String[] group = part.substring(colon + 1).split("/", -1);
        if (group.length != 2) {
            throw new IllegalArgumentException("CPU list '" + text + "': '" + part + "' is not first-last:used/group");
        }
        final int used = number(group[0], text);
        final int size = number(group[1], text);
        if (used < 1 || size < used) {
            throw new IllegalArgumentException("CPU list '" + text + "': '" + part + "' uses " + used + " of every " + size);
        }
        for (int cpu = first; cpu <= last; cpu++) {
            if ((cpu - first) % size < used) {
                bits.set(cpu);
            }
        }
    }

    private static int number(final String digits, final String text) {
        if (!digits.isEmpty() && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            final int value = Integer.parseInt(digits);
            if (value <= MAX_CPU) {
                return value;
            }
        }
        throw new IllegalArgumentException("CPU list '" + text + "': '" + digits + "' is not a CPU number (like 0-3,8)");
    }

    /**
     * Parses the kernel's mask format: hexadecimal digits in groups of 32 bits, separated by commas, the highest CPUs first.
     *
     * @param mask the text, surrounding white space is ignored
     * @return the set
     * @throws IllegalArgumentException if the text is not such a mask; the message contains it
     */
    public static CpuSet parseMask(final String mask) {
        final StringBuilder digits = new StringBuilder();
        for (final String group : mask.strip().split(",", -1)) {
            if (!group.matches("[0-9a-fA-F]{1," + MAX_CPU / 4 + "}")) {
                throw new IllegalArgumentException("CPU mask '" + mask + "' is not hexadecimal (like ff,fffffffc)");
            }
            digits.append("0".repeat(Math.max(0, 8 - group.length()))).append(group);
        }
        return new CpuSet(BitSet.valueOf(littleEndian(new BigInteger(digits.toString(), 16))));
    }

    private static byte[] littleEndian(final BigInteger value) {
        final byte[] bytes = value.toByteArray();
        for (int i = 0; i < bytes.length / 2; i++) {
            final byte swapped = bytes[i];
            bytes[i] = bytes[bytes.length - 1 - i];
            bytes[bytes.length - 1 - i] = swapped;
        }
        return bytes;
    }

    /**
     * The set in the kernel's mask format.
     *
     * @return for instance {@code 3,fffffffc}; {@code 0} for the empty set
     */
    public String mask() {
        final String digits = stream().mapToObj(BigInteger.ONE::shiftLeft).reduce(BigInteger.ZERO, BigInteger::or).toString(16);
        final StringBuilder text = new StringBuilder(digits);
        for (int i = digits.length() - 8; i > 0; i -= 8) {
            text.insert(i, ',');
        }
        return text.toString();
    }

    /**
     * Whether a CPU is in the set.
     *
     * @param cpu the CPU number
     * @return true if it is
     */
    public boolean contains(final int cpu) {
        return cpu >= 0 && bits.get(cpu);
    }

    /**
     * Whether every CPU of another set is in this one.
     *
     * @param other the other set
     * @return true if none is missing
     */
    public boolean containsAll(final CpuSet other) {
        return other.minus(this).isEmpty();
    }

    /**
     * Whether this and another set have a CPU in common.
     *
     * @param other the other set
     * @return true if they have
     */
    public boolean intersects(final CpuSet other) {
        return bits.intersects(other.bits);
    }

    /**
     * The CPUs that are in both sets.
     *
     * @param other the other set
     * @return a new set
     */
    public CpuSet and(final CpuSet other) {
        final BitSet result = copy();
        result.and(other.bits);
        return new CpuSet(result);
    }

    /**
     * The CPUs that are in either set.
     *
     * @param other the other set
     * @return a new set
     */
    public CpuSet or(final CpuSet other) {
        final BitSet result = copy();
        result.or(other.bits);
        return new CpuSet(result);
    }

    /**
     * The CPUs of this set that are not in the other.
     *
     * @param other the other set
     * @return a new set
     */
    public CpuSet minus(final CpuSet other) {
        final BitSet result = copy();
        result.andNot(other.bits);
        return new CpuSet(result);
    }

    /**
     * How many CPUs the set has.
     *
     * @return the count
     */
    public int size() {
        return bits.cardinality();
    }

    /**
     * Whether the set has no CPU.
     *
     * @return true if it is empty
     */
    public boolean isEmpty() {
        return bits.isEmpty();
    }

    /**
     * The lowest CPU of the set.
     *
     * @return its number, or nothing for the empty set
     */
    public OptionalInt first() {
        return bits.isEmpty() ? OptionalInt.empty() : OptionalInt.of(bits.nextSetBit(0));
    }

    /**
     * The CPUs in ascending order.
     *
     * @return a stream of their numbers
     */
    public IntStream stream() {
        return bits.stream();
    }

    /**
     * The set for use in a sentence.
     *
     * @return for instance {@code CPU 3} or {@code CPUs 3-5}
     */
    public String named() {
        return (size() == 1 ? "CPU " : "CPUs ") + this;
    }

    private BitSet copy() {
        return (BitSet) bits.clone();
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof CpuSet that && bits.equals(that.bits);
    }

    @Override
    public int hashCode() {
        return bits.hashCode();
    }

    /**
     * The set in the kernel's list format.
     *
     * @return for instance {@code 0-3,8}; the empty string for the empty set
     */
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder();
        for (int first = bits.nextSetBit(0); first >= 0;) {
            final int last = bits.nextClearBit(first) - 1;
            if (!text.isEmpty()) {
                text.append(',');
            }
            text.append(first);
            if (last > first) {
                text.append('-').append(last);
            }
            first = bits.nextSetBit(last + 1);
        }
        return text.toString();
    }
}
