package io.ringpoll.bench.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The build that measures.
 *
 * @param version version of the artifacts
 * @param commit  the commit, with a remark if files were changed since; {@value #UNKNOWN} outside a checkout
 */
public record RingpollBuild(String version, String commit) {
    private static final String UNKNOWN = "unknown";
    private static final long LIMIT_S = 10;

    /**
     * Finds the build of this process.
     *
     * @return from the jar, and from git if the classes are in a checkout
     */
    public static RingpollBuild ofThisProcess() {
        final String version = RingpollBuild.class.getPackage().getImplementationVersion();
        return new RingpollBuild(version == null ? UNKNOWN : version, checkout().flatMap(RingpollBuild::commit).orElse(UNKNOWN));
    }

    /**
     * Adds the build to a document.
     *
     * @param node receives version and commit
     */
    public void addTo(final ObjectNode node) {
        node.put("version", version).put("commit", commit);
    }

    /** The folder of the launcher and of git's data, above the classes. */
    private static Optional<Path> checkout() {
        final CodeSource source = RingpollBuild.class.getProtectionDomain().getCodeSource();
        try {
            Path folder = source == null ? null : Path.of(source.getLocation().toURI());
            while (folder != null && !(Files.exists(folder.resolve(".git")) && Files.exists(folder.resolve("ringpoll")))) {
                folder = folder.getParent();
            }
            return Optional.ofNullable(folder);
        } catch (final URISyntaxException | IllegalArgumentException noFile) {
            return Optional.empty();
        }
    }

    private static Optional<String> commit(final Path checkout) {
        final Optional<String> changes = git(checkout, "status", "--porcelain", "--untracked-files=no");
        return git(checkout, "rev-parse", "--short=12", "HEAD").filter(commit -> !commit.isEmpty())
            .map(commit -> commit + (changes.orElse("").isEmpty() ? "" : " with changes"));
    }

    private static Optional<String> git(final Path checkout, final String... arguments) {
        try {
            final String[] command = new String[arguments.length + 3];
            command[0] = "git";
            command[1] = "-C";
            command[2] = checkout.toString();
            System.arraycopy(arguments, 0, command, 3, arguments.length);
            final Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            process.getOutputStream().close();
            final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(LIMIT_S, TimeUnit.SECONDS) && process.exitValue() == 0 ? Optional.of(output) :
                Optional.empty();
        } catch (final IOException noGit) {
            return Optional.empty();
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
