package io.ringpoll.bench.instructions;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.ObjectName;

/** The code of this process by address: compiled methods, the JVM's other generated code, and mapped libraries. Immutable. */
final class CodeMap {
    private static final int HEXADECIMAL = 16;
    private static final String JVM_LIBRARY = "/libjvm.so";
    private static final String INTERPRETER = "Interpreter";
    /** The level of code that C2 has compiled, and that of wrappers of native methods. */
    private static final Set<String> STEADY_LEVELS = Set.of("4", "0");
    private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

    private final TreeMap<Long, Range> ranges = new TreeMap<>(Long::compareUnsigned);

    private record Range(long end, Place place, String name, boolean isSteady) {
    }

    private static final Range UNKNOWN = new Range(0, Place.JVM, "", true);

    private CodeMap() {
    }

    static CodeMap ofThisProcess() throws IOException {
        final CodeMap map = new CodeMap();
        for (final String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            map.addMapping(line);
        }
        final Path file = Files.createTempFile("ringpoll", ".map");
        try {
            diagnose("compilerPerfmap", file.toString());
            // Replaces the mapping of the code cache.
            for (final String line : Files.readAllLines(file)) {
                map.addCode(line);
            }
            diagnose("compilerCodelist").lines().forEach(map::addLevel);
        } catch (final JMException e) {
            throw new IOException("the JVM does not list its compiled code: " + e.getMessage(), e);
        } finally {
            Files.delete(file);
        }
        return map;
    }

    private static String diagnose(final String command, final String... arguments) throws JMException {
        return (String) ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName(COMMANDS), command,
            new Object[] {arguments}, new String[] {String[].class.getName()});
    }

    /** A line of {@code /proc/self/maps}, see proc(5). */
    private void addMapping(final String line) {
        final String[] words = line.split("\\s+", 6);
        if (words[1].contains("x")) {
            final int dash = words[0].indexOf('-');
            final String file = words.length < 6 ? "" : words[5];
            ranges.put(Long.parseUnsignedLong(words[0], 0, dash, HEXADECIMAL),
                new Range(Long.parseUnsignedLong(words[0], dash + 1, words[0].length(), HEXADECIMAL),
                    file.isEmpty() ? Place.JVM : Place.ofFile(file), file, !file.endsWith(JVM_LIBRARY)));
        }
    }

    /** Start, size and name. */
    private void addCode(final String line) {
        final String[] words = line.split(" ", 3);
        final long start = Long.decode(words[0].startsWith("0x") ? words[0] : "0x" + words[0]);
        final long size = Long.decode(words[1].startsWith("0x") ? words[1] : "0x" + words[1]);
        ranges.put(start, new Range(start + size, Place.ofCompiledCode(words[2]), words[2], !words[2].equals(INTERPRETER)));
    }

    /** A compiled method: {@code id level state method [header, start - end]}. */
    private void addLevel(final String line) {
        final String[] words = line.split(" ");
        final long start = Long.decode(words[words.length - 3]);
        ranges.computeIfPresent(start,
            (address, code) -> new Range(code.end, code.place, code.name, STEADY_LEVELS.contains(words[1])));
    }

    /** Whether it is code of the steady state: neither the interpreter, nor compiled by C1 only, nor the JVM's own library. */
    boolean isSteady(final long address) {
        return range(address).isSteady;
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
