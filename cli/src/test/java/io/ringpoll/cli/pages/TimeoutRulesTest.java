package io.ringpoll.cli.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every public method with a time-out follows the rules of {@code docs/reference/configuration.md}: the unit is in the names, and
 * the Javadoc states the effect of 0 and of a negative value. Ratis has a type for durations and is left out.
 */
@Timeout(60)
class TimeoutRulesTest {
    private static final List<String> MODULES = List.of("native", "loopback", "poller", "pipeline", "connections", "tuning");
    private static final Pattern PUBLIC_METHOD = Pattern.compile(
        "/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*((?:@\\w+(?:\\([^)]*\\))?\\s*)*)public [^;{=(]*?(\\w+)\\(([^)]*)\\)");
    private static final Pattern PARAMETER = Pattern.compile("([\\w<>]+) (\\w*[tT]imeout\\w*)");

    private final List<String> violations = new ArrayList<>();
    private int timeouts;

    @Test
    void shouldFollowOneRuleForEachTimeOutOfThePublicApi() throws IOException {
        for (final String module : MODULES) {
            final Path sources = Path.of("..", module, "src", "main", "java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (final Path file : files.filter(TimeoutRulesTest::isPublic).sorted().toList()) {
                    check(module, file.getFileName().toString(), Files.readString(file));
                }
            }
        }
        assertEquals(List.of(), violations);
        assertTrue(timeouts >= 22, timeouts + " time-outs were found");
    }

    @Test
    void shouldFindEachViolation() {
        check("pipeline", "A", "/** @param timeout 0 or less does not wait */\npublic void pause(final long timeout) {");
        check("pipeline", "B", "/** @param timeoutMs 0 or less does not wait */\npublic void pause(final int timeoutMs) {");
        check("pipeline", "C", "/** @param timeoutNs in nanoseconds */\npublic void pause(final long timeoutNs) {");
        check("pipeline", "D", "/** @param timeoutNs 0: none; negative: none */\npublic X idleTimeout(final long timeoutNs) {");
        check("native", "E", "/** @param timeoutNs 0 does not wait, negative does */\npublic X await(final long timeoutNs) {");
        check("native", "F", "/** @param timeoutMs 0 does not wait, negative does */\npublic X await(final int timeoutMs) {");
        assertEquals(List.of("A.pause: long timeout is not a long with the suffix Ns",
            "B.pause: int timeoutMs is not a long with the suffix Ns",
            "C.pause: the Javadoc of timeoutNs does not state the effect of 0 and of a negative value",
            "D.idleTimeout: the name of the option has no suffix Ns",
            "E.await: long timeoutNs is not an int with the suffix Ms"), violations);
    }

    private static boolean isPublic(final Path file) {
        return file.toString().endsWith(".java") && !file.toString().contains("/internal/");
    }

    private void check(final String module, final String file, final String source) {
        final boolean isBinding = module.equals("native");
        final String type = isBinding ? "int" : "long";
        final String suffix = isBinding ? "Ms" : "Ns";
        final Matcher method = PUBLIC_METHOD.matcher(source);
        while (method.find()) {
            final String name = file.replace(".java", "") + '.' + method.group(3);
            final Matcher parameter = PARAMETER.matcher(method.group(4));
            while (parameter.find()) {
                timeouts++;
                final String timeout = parameter.group(2);
                if (!parameter.group(1).equals(type) || !timeout.endsWith(suffix)) {
                    violations.add(name + ": " + parameter.group() + " is not " + (isBinding ? "an int" : "a long") +
                        " with the suffix " + suffix);
                } else if (method.group(3).contains("Timeout") && !method.group(3).endsWith(suffix)) {
                    violations.add(name + ": the name of the option has no suffix " + suffix);
                } else if (!statesLimits(method.group(1), timeout)) {
                    violations.add(name + ": the Javadoc of " + timeout +
                        " does not state the effect of 0 and of a negative value");
                }
            }
        }
    }

    private static boolean statesLimits(final String javadoc, final String parameter) {
        final Matcher tag = Pattern.compile("@param " + parameter + "\\s((?:(?!\\n\\s*\\* @)[\\s\\S])*)").matcher(javadoc);
        return tag.find() && tag.group(1).matches("[\\s\\S]*\\b0\\b[\\s\\S]*") &&
            tag.group(1).matches("[\\s\\S]*(negative|0 or less)[\\s\\S]*");
    }
}
