package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page of the configuration has each option of a set. */
@Timeout(60)
class ConfigurationPageTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "configuration.md");
    private static final String HEADING = "## Set of connections";

    @Test
    void shouldHaveARowForEachOption() throws Exception {
        final String page = Files.readString(PAGE);
        final int begin = page.indexOf(HEADING);
        final String section = page.substring(begin, page.indexOf("\n## ", begin));
        final Set<String> rows = section.lines().filter(line -> line.startsWith("| `")).map(line -> line.split("\\|")[1])
            .flatMap(options -> Pattern.compile("`(\\w+)`").matcher(options).results().map(option -> option.group(1)))
            .collect(Collectors.toCollection(TreeSet::new));
        final Set<String> options = Arrays.stream(ConnectionSetBuilder.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getReturnType() == ConnectionSetBuilder.class)
            .map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(options, rows);
    }
}
