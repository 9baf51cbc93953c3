package io.ringpoll.verify.torture.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The folder in which the loopback device of this process has the ports of all processes; any thread. */
final class PortFolder {
    private static final String FOLDER = System.getenv("RINGPOLL_LOOPBACK_FOLDER");
    private static final Pattern LOCKED_INODE = Pattern.compile(" FLOCK .*:(\\d+) 0 EOF");
    private static final String LOCK = ".lock";

    private PortFolder() {
    }

    /** The files of processes that have ended, by inode; a lock is looked up without taking it, which would disturb its owner. */
    static Map<Long, String> unowned() {
        final Map<Long, String> files = new HashMap<>();
        if (FOLDER != null && Files.isDirectory(Path.of(FOLDER))) {
            try (Stream<Path> all = Files.list(Path.of(FOLDER))) {
                all.forEach(file -> files.put(inode(file), file.getFileName().toString()));
                final Set<Long> locked = locked();
                final Set<String> owned = new HashSet<>();
                files.forEach((inode, name) -> {
                    if (locked.contains(inode)) {
                        owned.add(name);
                        owned.add(name.replace(LOCK, ""));
                    }
                });
                files.values().removeAll(owned);
            } catch (final IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        return files;
    }

    /** Those of the files that are still there, and have no owner. */
    static Map<Long, String> left(final Map<Long, String> before) {
        final Map<Long, String> left = unowned();
        left.keySet().retainAll(before.keySet());
        return left;
    }

    /** 0 if the file was removed meanwhile. */
    private static long inode(final Path file) {
        try {
            return (long) Files.getAttribute(file, "unix:ino");
        } catch (final NoSuchFileException removed) {
            return 0;
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static Set<Long> locked() throws IOException {
        final Set<Long> inodes = new HashSet<>();
        for (final String line : Files.readAllLines(Path.of("/proc/locks"))) {
            final Matcher matcher = LOCKED_INODE.matcher(line);
            if (matcher.find()) {
                inodes.add(Long.parseLong(matcher.group(1)));
            }
        }
        return inodes;
    }
}
