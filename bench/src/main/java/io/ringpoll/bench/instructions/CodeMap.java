package io.ringpoll.bench.instructions;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.ObjectName;

/** Which part of this process an address belongs to: the code of the JIT compiler, or a mapped library. Immutable. */
final class CodeMap {
    private static final int HEXADECIMAL = 16;
    private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

    private final TreeMap<Long, Range> ranges = new TreeMap<>(Long::compareUnsigned);

    private record Range(long end, Place place, String name) {
    }

    private static final Range UNKNOWN = new Range(0, Place.JVM, "");

    private CodeMap() {
    }

    static CodeMap ofThisProcess() throws IOException {
        final CodeMap map = new CodeMap();
        for (final String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            map.addMapping(line);
        }
        final Path file = Files.createTempFile("ringpoll", ".map");
        try {
            ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName(COMMANDS), "compilerPerfmap",
                new Object[] {new String[] {file.toString()}}, new String[] {String[].class.getName()});
            // Later, because the code cache is a mapping, too.
            for (final String line : Files.readAllLines(file)) {
                map.addCode(line);
            }
        } catch (final JMException e) {
            throw new IOException("the JVM does not tell where its compiled code is: " + e.getMessage(), e);
        } finally {
            Files.delete(file);
        }
        return map;
    }

    /** A line of maps, as in proc(5). */
    private void addMapping(final String line) {
        final String[] words = line.split("\\s+", 6);
        if (words[1].contains("x")) {
            final int dash = words[0].indexOf('-');
            ranges.put(Long.parseUnsignedLong(words[0], 0, dash, HEXADECIMAL),
                new Range(Long.parseUnsignedLong(words[0], dash + 1, words[0].length(), HEXADECIMAL),
                    words.length < 6 ? Place.JVM : Place.ofFile(words[5]), words.length < 6 ? "" : words[5]));
        }
    }

    /** Start, size and name. */
    private void addCode(final String line) {
        final String[] words = line.split(" ", 3);
        final long start = Long.decode(words[0].startsWith("0x") ? words[0] : "0x" + words[0]);
        final long size = Long.decode(words[1].startsWith("0x") ? words[1] : "0x" + words[1]);
        ranges.put(start, new Range(start + size, Place.ofCompiledCode(words[2]), words[2]));
    }

    /** The part of the program. */
    Place placeOf(final long address) {
        return range(address).place;
    }

    /** The name of the compiled method, or the file of the library. */
    String nameOf(final long address) {
        return range(address).name;
    }

    private Range range(final long address) {
        final Map.Entry<Long, Range> floor = ranges.floorEntry(address);
        return floor != null && Long.compareUnsigned(address, floor.getValue().end) < 0 ? floor.getValue() : UNKNOWN;
    }
}
