package io.ringpoll.completion;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The installed {@code infiniband/verbs.h}, read for the constants of its enums. */
final class VerbsHeader {
    static final Path PATH = Path.of("/usr/include/infiniband/verbs.h");

    private final String text;

    VerbsHeader() {
        try {
            text = Files.readString(PATH).replaceAll("(?s)/\\*.*?\\*/", "");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The names of an enum's constants. */
    TreeSet<String> constants(final String name) {
        final Matcher list = Pattern.compile("enum " + name + " \\{([^}]*)\\}").matcher(text);
        final TreeSet<String> names = new TreeSet<>();
        if (list.find()) {
            final Matcher constant = Pattern.compile("(?m)^\\s*(IBV_\\w+)").matcher(list.group(1));
            while (constant.find()) {
                names.add(constant.group(1));
            }
        }
        return names;
    }
}
