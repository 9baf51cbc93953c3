package io.ringpoll.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The placement of the memory of this process on NUMA nodes: all memory except file mappings, including that of the JVM.
 *
 * @param bytesByNode bytes in physical memory, by node number; empty if the kernel does not report them
 * @see <a href="https://man7.org/linux/man-pages/man7/numa.7.html">numa(7)</a>
 */
public record NodeMemory(SortedMap<Integer, Long> bytesByNode) {
    private static final Path NUMA_MAPS = Path.of("/proc/self/numa_maps");
    private static final String PAGE_SIZE = "kernelpagesize_kB=";
    private static final int KILOBYTE = 1024;

    /** Copies the map. */
    public NodeMemory {
        bytesByNode = Collections.unmodifiableSortedMap(new TreeMap<>(bytesByNode));
    }

    /**
     * Reads the placement. The kernel walks all page tables: this takes milliseconds, in which no page can be mapped.
     *
     * @return the present placement
     */
    public static NodeMemory ofThisProcess() {
        try (Stream<String> lines = Files.lines(NUMA_MAPS)) {
            return parse(lines);
        } catch (final IOException noNuma) {
            return new NodeMemory(new TreeMap<>());
        }
    }

    static NodeMemory parse(final Stream<String> lines) {
        final SortedMap<Integer, Long> bytes = new TreeMap<>();
        lines.filter(line -> !line.contains(" file=")).forEach(line -> add(line.split(" "), bytes));
        return new NodeMemory(bytes);
    }

    /**
     * The total.
     *
     * @return bytes
     */
    public long totalBytes() {
        return bytesByNode.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * The share of a node.
     *
     * @param node its number
     * @return from 0 to 1; 0 if the kernel does not report it
     */
    public double shareOn(final int node) {
        return totalBytes() == 0 ? 0 : bytesByNode.getOrDefault(node, 0L) / (double) totalBytes();
    }

    /** A line is an address, a policy and words, among them N0=PAGES for node 0. */
    private static void add(final String[] words, final Map<Integer, Long> bytes) {
        long pageBytes = 0;
        for (final String word : words) {
            if (word.startsWith(PAGE_SIZE)) {
                pageBytes = Long.parseLong(word.substring(PAGE_SIZE.length())) * KILOBYTE;
            }
        }
        for (final String word : words) {
            final int equals = word.indexOf('=');
            if (word.matches("N\\d{1,4}=\\d+")) {
                bytes.merge(Integer.parseInt(word.substring(1, equals)),
                    Long.parseLong(word.substring(equals + 1)) * pageBytes, Long::sum);
            }
        }
    }
}
