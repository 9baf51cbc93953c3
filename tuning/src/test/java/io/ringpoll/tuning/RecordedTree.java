package io.ringpoll.tuning;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Topology;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * A recorded machine: one text file expanded to a folder, after changing, adding, removing or denying single files.
 *
 * <p>The format is that of {@code tuning/scripts/record-tree}.
 */
public final class RecordedTree {
    private final Map<String, String> contents = new LinkedHashMap<>();
    private final Set<String> denied = new HashSet<>();

    private RecordedTree() {
    }

    /** The tree with a name among the test resources. */
    public static RecordedTree named(final String name) {
        try (InputStream in = RecordedTree.class.getResourceAsStream("/trees/" + name + ".tree")) {
            if (in == null) {
                throw new IllegalArgumentException("no recorded tree '" + name + "'");
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Parses a recording. */
    public static RecordedTree parse(final String text) {
        final RecordedTree tree = new RecordedTree();
        text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            final int tab = line.indexOf('\t');
            tree.contents.put(line.substring(0, tab), line.substring(tab + 1));
        });
        return tree;
    }

    /** An empty tree. */
    public static RecordedTree empty() {
        return new RecordedTree();
    }

    /** Sets a file's content, escaped as in a recording. */
    public RecordedTree with(final String path, final String content) {
        denied.remove(path);
        contents.put(path, content);
        return this;
    }

    /** Sets a file of each CPU from one to another; {@code #} in the path represents its number. */
    public RecordedTree withEach(final int first, final int last, final String path, final String content) {
        for (int cpu = first; cpu <= last; cpu++) {
            with(path.replace("#", Integer.toString(cpu)), content);
        }
        return this;
    }

    /** Removes a file, or a folder and its content. */
    public RecordedTree without(final String path) {
        contents.keySet().removeIf(file -> file.equals(path) || file.startsWith(path + "/"));
        return this;
    }

    /** Replaces a part of a file's content. */
    public RecordedTree replacing(final String path, final String part, final String by) {
        final String content = contents.get(path);
        if (content == null || !content.contains(part)) {
            throw new IllegalArgumentException("no '" + part + "' in " + path);
        }
        contents.put(path, content.replace(part, by));
        return this;
    }

    /** Makes reading a file fail as for a user without permission; tests may run as root, which can read everything. */
    public RecordedTree denying(final String path) {
        contents.putIfAbsent(path, "");
        denied.add(path);
        return this;
    }

    /** Writes the tree below a folder and returns its files. */
    public MachineFiles expand(final Path folder) {
        try {
            final Set<Path> made = new HashSet<>();
            for (final Map.Entry<String, String> entry : contents.entrySet()) {
                final Path file = folder.resolve(entry.getKey());
                if (made.add(file.getParent())) {
                    Files.createDirectories(file.getParent());
                }
                if (entry.getValue().startsWith("-> ")) {
                    Files.createSymbolicLink(file, Path.of(entry.getValue().substring(3)));
                } else {
                    Files.write(file, unescaped(entry.getValue()));
                }
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        final Set<Path> forbidden = new HashSet<>();
        denied.forEach(path -> forbidden.add(folder.resolve(path)));
        return new MachineFiles(folder) {
            @Override
            protected byte[] bytes(final Path file) throws IOException {
                if (forbidden.contains(file)) {
                    throw new AccessDeniedException(file.toString());
                }
                return super.bytes(file);
            }

            @Override
            public boolean readableAndWritable(final String path) {
                return !denied.contains(path) && super.readableAndWritable(path);
            }
        };
    }

    /** Writes the tree below a folder and reads its topology. */
    public Topology topology(final Path folder) {
        return Topology.read(expand(folder));
    }

    private static byte[] unescaped(final String content) {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < content.length(); i++) {
            char c = content.charAt(i);
            if (c == '\\') {
                i++;
                c = content.charAt(i);
                if (c == 'x') {
                    c = (char) Integer.parseInt(content.substring(i + 1, i + 3), 16);
                    i += 2;
                } else {
                    c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
                }
            }
            out.write(c);
        }
        // Text files of the kernel end with a line feed, binary ones do not; readers must accept both.
        if (!content.contains("\\x")) {
            out.write('\n');
        }
        return out.toByteArray();
    }
}
