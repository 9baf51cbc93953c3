package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Values of C expressions over the installed headers, evaluated by a program that is compiled for this purpose. */
public final class CHeaders {
    private CHeaders() {
    }

    /** Compares constants in Java with the headers; the keys are C expressions. */
    public static void assertEqualToHeaders(final Path folder, final List<String> headers, final Map<String, Long> fromJava) {
        final StringBuilder program = new StringBuilder("#include <stddef.h>\n#include <stdio.h>\n");
        headers.forEach(header -> program.append("#include <").append(header).append(">\n"));
        program.append("int main(void)\n{\n");
        for (final String expression : fromJava.keySet()) {
            program.append("\tprintf(\"%lld\\n\", (long long) (").append(expression).append("));\n");
        }
        program.append("\treturn 0;\n}\n");
        final List<String> lines = CCompiler.run(folder, program.toString());
        final Map<String, Long> fromHeaders = new TreeMap<>();
        int i = 0;
        for (final String expression : fromJava.keySet()) {
            fromHeaders.put(expression, Long.valueOf(lines.get(i++)));
        }
        assertEquals(fromHeaders, new TreeMap<>(fromJava));
    }
}
