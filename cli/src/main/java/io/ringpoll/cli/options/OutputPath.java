package io.ringpoll.cli.options;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Checks the output path of a command before it starts, so that the result of a long measurement is not lost. Leaves nothing
 * there.
 */
public final class OutputPath {
    private OutputPath() {
    }

    /**
     * Rejects a folder that cannot be written to or created.
     *
     * @param command the command with the option
     * @param option  its name
     * @param folder  as given; null if it was not
     */
    public static void requireFolder(final CommandSpec command, final String option, final Path folder) {
        if (folder != null) {
            Execution.require(command, !folder.toString().isBlank(), option + " '" + folder + "' names no folder");
            requireWritable(command, option, folder, folder);
        }
    }

    /**
     * Rejects a file that is a folder or cannot be created.
     *
     * @param command the command with the option
     * @param option  its name
     * @param file    as given; null if it was not
     */
    public static void requireFile(final CommandSpec command, final String option, final Path file) {
        if (file != null) {
            Execution.require(command, !file.toString().isBlank(), option + " '" + file + "' names no file");
            Execution.require(command, !Files.isDirectory(file), option + " " + file + ": is a folder, not a file");
            requireWritable(command, option, file, file.toAbsolutePath().getParent());
        }
    }

    private static void requireWritable(final CommandSpec command, final String option, final Path given, final Path folder) {
        Path existing = folder.toAbsolutePath();
        while (Files.notExists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        Execution.require(command, Files.isDirectory(existing),
            option + " " + given + ": " + existing + " is not a folder; name another place");
        final boolean exists = existing.equals(folder.toAbsolutePath());
        Execution.require(command, Files.isWritable(existing) && (exists || takesFolders(existing)),
            option + " " + given + ": " + existing + " cannot be written to; name another place");
    }

    /** Whether folders can be created in another one. The kernel's own file systems grant root every access and refuse to. */
    private static boolean takesFolders(final Path parent) {
        try {
            Files.delete(Files.createTempDirectory(parent, ".ringpoll"));
            return true;
        } catch (final IOException refused) {
            return false;
        }
    }
}
