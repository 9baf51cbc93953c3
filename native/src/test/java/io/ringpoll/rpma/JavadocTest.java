package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every public method of the binding links its manual page, in its own Javadoc or that of its class. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class JavadocTest {
    private static final Path SOURCES = Path.of("src", "main", "java", "io", "ringpoll");
    private static final Pattern DOCUMENTED = Pattern.compile(
        "/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*((?:@\\w+(?:\\([^)]*\\))?\\s*)*)(public [^;{=]*)[;{=]");
    private static final Pattern MANUAL_PAGE = Pattern.compile("@see\\s+<a\\s+href=\"[^\"]+\">\\s*(\\*\\s*)?[\\w.]+\\(\\d\\)");
    private static final Pattern WHERE = Pattern.compile("@see <a|\\{@inheritDoc}|\\{@link");

    @ParameterizedTest
    @ValueSource(strings = {"completion", "rpma", "verbs"})
    void shouldNameTheManualPageOfEveryPublicMethod(final String folder) throws IOException {
        final List<String> without = new ArrayList<>();
        int methods = 0;
        try (Stream<Path> files = Files.list(SOURCES.resolve(folder))) {
            for (final Path file : files.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
                methods += check(file, without);
            }
        }
        assertTrue(methods > 50, methods + " methods found");
        assertEquals(List.of(), without);
    }

    private static int check(final Path file, final List<String> without) throws IOException {
        final Matcher documented = DOCUMENTED.matcher(Files.readString(file));
        boolean classNamesIt = false;
        int methods = 0;
        while (documented.find()) {
            final String declaration = documented.group(3);
            final boolean namesIt = MANUAL_PAGE.matcher(documented.group(1)).find();
            if (declaration.matches("public (static |final |abstract |sealed )*(class|interface|enum|record) [\\s\\S]*")) {
                classNamesIt |= namesIt;
            } else if (declaration.contains("(")) {
                methods++;
                if (!namesIt && !classNamesIt && !WHERE.matcher(documented.group(1)).find()) {
                    without.add(file.getFileName() + ": " + declaration.replaceAll("\\s+", " ").strip());
                }
            }
        }
        return methods;
    }
}
