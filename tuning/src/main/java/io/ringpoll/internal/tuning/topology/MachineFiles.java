package io.ringpoll.internal.tuning.topology;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The files of a machine below a root folder: {@code /} for this machine, any other folder for a recorded one.
 *
 * <p>Paths are those of the machine, without the leading slash. A missing or unreadable file is an ordinary result and never an
 * exception. Confined to one thread at a time.
 */
public class MachineFiles {
    /** Larger files are truncated: all relevant files are far smaller, and a wrong root must not exhaust the heap. */
    private static final int MAX_BYTES = 16 << 20;

    private final Path root;

    /**
     * Creates the files below a root folder.
     *
     * @param root the folder in place of {@code /}
     */
    public MachineFiles(final Path root) {
        this.root = root;
    }

    /**
     * The files of this machine.
     *
     * @return the files below {@code /}
     */
    public static MachineFiles ofThisMachine() {
        return new MachineFiles(Path.of("/"));
    }

    /**
     * Whether these are the files of this machine, so that properties of the running JVM apply to them.
     *
     * @return true for the root folder {@code /}
     */
    public boolean areThisMachine() {
        return root.equals(Path.of("/"));
    }

    /**
     * Reads a whole file.
     *
     * @param path the path on the machine, for instance {@code proc/cmdline}
     * @return its text or the reason why there is none
     */
    public Reading read(final String path) {
        final String name = "/" + path;
        try {
            final String text = new String(bytes(root.resolve(path)), StandardCharsets.ISO_8859_1);
            return new Reading(name, Reading.State.PRESENT, stripped(text), "");
        } catch (final NoSuchFileException e) {
            return new Reading(name, Reading.State.ABSENT, "", name + " does not exist");
        } catch (final AccessDeniedException e) {
            return new Reading(name, Reading.State.DENIED, "", "reading " + name + " needs root");
        } catch (final IOException e) {
            final String why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            return new Reading(name, Reading.State.FAILED, "", "reading " + name + " failed: " + why);
        }
    }

    /**
     * The file's bytes; tests override this to simulate failures.
     *
     * @param file the file
     * @return its content
     * @throws IOException if it cannot be read
     */
    protected byte[] bytes(final Path file) throws IOException {
        try (var in = Files.newInputStream(file)) {
            return in.readNBytes(MAX_BYTES);
        }
    }

    /**
     * The text of an optional file.
     *
     * @param path the path on the machine
     * @return its text; empty if it is blank or could not be read
     */
    public Optional<String> text(final String path) {
        return read(path).value();
    }

    /**
     * The number in an optional file.
     *
     * @param path the path on the machine
     * @return the number; empty if there is none
     */
    public OptionalLong number(final String path) {
        try {
            return text(path).map(Long::parseLong).map(OptionalLong::of).orElse(OptionalLong.empty());
        } catch (final NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /**
     * The CPU list in an optional file.
     *
     * @param path the path on the machine
     * @return the set; empty if the file or the list is missing
     */
    public Optional<CpuSet> cpuSet(final String path) {
        final Reading reading = read(path);
        if (!reading.isPresent()) {
            return Optional.empty();
        }
        try {
            return Optional.of(CpuSet.parse(reading.text()));
        } catch (final IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The CPU mask in an optional file.
     *
     * @param path the path on the machine
     * @return the set; empty if there is no mask
     */
    public Optional<CpuSet> cpuMask(final String path) {
        try {
            return text(path).map(CpuSet::parseMask);
        } catch (final IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The names in a folder, shorter ones first, so that {@code cpu2} precedes {@code cpu10}.
     *
     * @param folder the path on the machine
     * @return the names; none if the folder is missing or unreadable
     */
    public List<String> names(final String folder) {
        final List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve(folder))) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (final IOException | java.nio.file.DirectoryIteratorException e) {
            return List.of();
        }
        names.sort(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
        return names;
    }

    /**
     * A process by its name.
     *
     * @param name the name in {@code comm}
     * @return the process id of one; empty if there is none, or it is hidden in another process namespace
     */
    public Optional<String> process(final String name) {
        return names("proc").stream().filter(pid -> Character.isDigit(pid.charAt(0)))
            .filter(pid -> text("proc/" + pid + "/comm").filter(name::equals).isPresent()).findFirst();
    }

    /**
     * The environment of a process.
     *
     * @param pid its id, or {@code self}
     * @return value by name; empty if it cannot be read
     */
    public Map<String, String> environment(final String pid) {
        final Map<String, String> variables = new HashMap<>();
        for (final String variable : read("proc/" + pid + "/environ").text().split("\0")) {
            if (variable.indexOf('=') > 0) {
                variables.put(variable.substring(0, variable.indexOf('=')), variable.substring(variable.indexOf('=') + 1));
            }
        }
        return variables;
    }

    /**
     * Whether there is such a file or folder.
     *
     * @param path the path on the machine
     * @return true if there is
     */
    public boolean exists(final String path) {
        return Files.exists(root.resolve(path));
    }

    /**
     * Whether this user may read and write a file, by its permissions.
     *
     * @param path the path on the machine
     * @return true if both are allowed
     */
    public boolean readableAndWritable(final String path) {
        final Path file = root.resolve(path);
        return Files.isReadable(file) && Files.isWritable(file);
    }

    /**
     * The last name in the target of a symbolic link.
     *
     * @param path the path on the machine
     * @return the name; empty if the path is not a link
     */
    public Optional<String> linkName(final String path) {
        final Path link = root.resolve(path);
        try {
            return Files.exists(link, LinkOption.NOFOLLOW_LINKS) && Files.isSymbolicLink(link)
                ? Optional.of(Files.readSymbolicLink(link).getFileName().toString())
                : Optional.empty();
        } catch (final IOException e) {
            return Optional.empty();
        }
    }

    private static String stripped(final String text) {
        // Only line ends and blanks are removed: a recorded zero byte is content (the value of /dev/cpu_dma_latency).
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == '\n' || text.charAt(end - 1) == ' ')) {
            end--;
        }
        return text.substring(0, end);
    }
}
