package io.ringpoll.rpma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The installed {@code librpma.h}, read for the functions and the constants that it declares. */
final class LibrpmaHeader {
    static final Path PATH = Path.of("/usr/include/librpma.h");

    private static final Pattern PROTOTYPE = Pattern.compile("(int|const char \\*)\\s*(rpma_\\w+)\\(([^;]*?)\\);");
    private static final Pattern DEFINE = Pattern.compile("(?m)^#define (RPMA_\\w+)\\s+\\(?[-\\d(R]");
    private static final Pattern ENUM = Pattern.compile("enum rpma_\\w+ \\{([^}]*)\\}");
    private static final Pattern CONSTANT = Pattern.compile("RPMA_\\w+");

    private final String text;

    LibrpmaHeader() {
        try {
            text = Files.readString(PATH).replaceAll("(?s)/\\*.*?\\*/", "");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each function with its parameters' and its result's Java types. */
    Map<String, List<Class<?>>> functions() {
        final Map<String, List<Class<?>>> functions = new TreeMap<>();
        final Matcher matcher = PROTOTYPE.matcher(text);
        while (matcher.find()) {
            final List<Class<?>> types = new ArrayList<>();
            for (final String parameter : matcher.group(3).split(",")) {
                types.add(javaType(parameter.strip()));
            }
            types.add("int".equals(matcher.group(1)) ? int.class : long.class);
            functions.put(matcher.group(2), types);
        }
        return functions;
    }

    /** The names of all constants, of enums and of {@code #define}. */
    TreeSet<String> constants() {
        final TreeSet<String> names = new TreeSet<>();
        final Matcher define = DEFINE.matcher(text);
        while (define.find()) {
            names.add(define.group(1));
        }
        final Matcher list = ENUM.matcher(text);
        while (list.find()) {
            final Matcher constant = CONSTANT.matcher(list.group(1));
            while (constant.find()) {
                names.add(constant.group());
            }
        }
        return names;
    }

    private static Class<?> javaType(final String parameter) {
        if (parameter.contains("*") || parameter.contains("[") || parameter.startsWith("size_t")) {
            return long.class;
        }
        return parameter.startsWith("bool") ? boolean.class : int.class;
    }
}
