package io.ringpoll.cli.pages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the documentation, divided into prose and blocks of code. */
record Page(Path file, List<String> prose, List<Block> blocks) {
    /** The root of the project. */
    static final Path ROOT = Path.of(System.getProperty("user.dir")).getParent();

    private static final Pattern INDENTED = Pattern.compile("( {4}|\t).*");

    /**
     * A block of code.
     *
     * @param language as after the fence, such as {@code java}; empty for an indented block
     * @param text     the lines of the block
     */
    record Block(String language, String text) {
    }

    static List<Page> all() {
        try (Stream<Path> top = Files.list(ROOT); Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs).filter(file -> file.toString().endsWith(".md")).sorted().map(Page::read).toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Page read(final Path file) {
        final List<String> prose = new ArrayList<>();
        final List<Block> blocks = new ArrayList<>();
        StringBuilder fenced = null;
        StringBuilder indented = null;
        String language = "";
        for (final String line : lines(file)) {
            if (line.strip().startsWith("```")) {
                if (fenced == null) {
                    fenced = new StringBuilder();
                    language = line.strip().substring(3);
                } else {
                    blocks.add(new Block(language, fenced.toString().stripIndent()));
                    fenced = null;
                }
            } else if (fenced != null) {
                fenced.append(line).append('\n');
            } else if (INDENTED.matcher(line).matches()) {
                indented = (indented == null ? new StringBuilder() : indented).append(line).append('\n');
            } else {
                if (indented != null) {
                    blocks.add(new Block("", indented.toString().stripIndent()));
                    indented = null;
                }
                prose.add(line);
            }
        }
        if (fenced != null) {
            throw new IllegalStateException(file + ": a block of code is not closed");
        }
        if (indented != null) {
            blocks.add(new Block("", indented.toString().stripIndent()));
        }
        return new Page(file, prose, blocks);
    }

    private static List<String> lines(final Path file) {
        try {
            return Files.readAllLines(file);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The headings of a level, without their marks. */
    List<String> headings(final int level) {
        final String mark = "#".repeat(level) + ' ';
        return prose.stream().filter(line -> line.startsWith(mark)).map(line -> line.substring(mark.length())).toList();
    }

    /** The anchors of all headings, as GitHub forms them. */
    List<String> anchors() {
        return prose.stream().filter(line -> line.matches("#{1,6} .*"))
            .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
            .map(heading -> heading.replaceAll("[^\\p{Alnum} _-]", "").replace(' ', '-'))
            .toList();
    }

    /** The whole text: prose first, then code, in which a line that ends in a backslash continues in the next one. */
    String text() {
        final StringBuilder text = new StringBuilder(String.join("\n", prose)).append('\n');
        blocks.forEach(block -> text.append(block.text().replaceAll("\\\\\n\\s*", "")).append('\n'));
        return text.toString();
    }

    @Override
    public String toString() {
        return ROOT.relativize(file).toString();
    }
}
