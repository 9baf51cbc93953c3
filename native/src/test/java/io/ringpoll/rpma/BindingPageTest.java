package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The table of functions in {@code docs/reference/binding.md}, against the code. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BindingPageTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "binding.md");
    private static final Path SOURCES = Path.of("src", "main", "java", "io", "ringpoll", "rpma");
    private static final Pattern ROW = Pattern.compile("\\| `(rpma_\\w+)` \\| (.*) \\| (critical|plain) \\|");
    private static final Pattern METHOD = Pattern.compile("`(\\w+)\\.(\\w+)`");
    private static final Pattern HANDLE = Pattern.compile("LIBRPMA\\s*\\.(\\w+)\\(\\s*\"(rpma_\\w+)\"");
    private static final String WITHOUT_JAVA = "none: the binding sets its own";

    @Test
    void shouldListEveryFunctionWithTheKindOfItsDowncall() throws IOException {
        final Map<String, String> listed = new TreeMap<>();
        for (final Matcher row : rows()) {
            assertNull(listed.put(row.group(1), row.group(3)), () -> row.group(1) + " is listed twice");
        }
        final Map<String, String> bound = new TreeMap<>();
        for (final String source : sources("Ffm")) {
            final Matcher handle = HANDLE.matcher(source);
            while (handle.find()) {
                assertNull(bound.put(handle.group(2), "critical".equals(handle.group(1)) ? "critical" : "plain"));
            }
        }
        assertEquals(bound, listed);
    }

    @Test
    void shouldNamePublicMethodsThatExist() throws IOException {
        for (final Matcher row : rows()) {
            final Matcher method = METHOD.matcher(row.group(2));
            int methods = 0;
            while (method.find()) {
                methods++;
                assertTrue(isPublicMethod(method.group(1), method.group(2)), () -> method.group() + " does not exist");
            }
            assertTrue(methods > 0 || WITHOUT_JAVA.equals(row.group(2)), () -> row.group(1) + " has no Java method");
        }
    }

    @Test
    void shouldNameClassesThatCallTheFunctionOrTheClassThatDoes() throws IOException {
        for (final Matcher row : rows()) {
            final Matcher method = METHOD.matcher(row.group(2));
            boolean calls = WITHOUT_JAVA.equals(row.group(2));
            while (method.find()) {
                calls |= calls(method.group(1), row.group(1));
            }
            assertTrue(calls, () -> row.group(1) + " is not called by " + row.group(2));
        }
    }

    private static boolean calls(final String type, final String function) throws IOException {
        final String source = read(SOURCES.resolve(type + ".java"));
        try (Stream<Path> files = Files.list(SOURCES)) {
            final Pattern call = Pattern.compile("Librpma\\.[A-Z]+(\\.|::)" + function + "\\b");
            return files.filter(file -> call.matcher(read(file)).find())
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .anyMatch(caller -> caller.equals(type) || source.contains(caller + "."));
        }
    }

    @Test
    void shouldCallEveryFunctionSomewhere() throws IOException {
        final TreeSet<String> called = new TreeSet<>();
        for (final String source : sources("")) {
            final Matcher call = Pattern.compile("Librpma\\.[A-Z]+(?:\\.|::)(rpma_\\w+)\\b").matcher(source);
            while (call.find()) {
                called.add(call.group(1));
            }
        }
        final TreeSet<String> listed = new TreeSet<>();
        rows().forEach(row -> listed.add(row.group(1)));
        assertEquals(listed, called);
    }

    private static List<Matcher> rows() throws IOException {
        try (Stream<String> lines = Files.lines(PAGE)) {
            return lines.map(ROW::matcher).filter(Matcher::matches).toList();
        }
    }

    private static boolean isPublicMethod(final String type, final String name) {
        try {
            // Not initialized: its functions are bound only where there is a device.
            final Class<?> named = Class.forName("io.ringpoll.rpma." + type, false, BindingPageTest.class.getClassLoader());
            return Stream.of(named.getMethods())
                .anyMatch(method -> method.getName().equals(name) && Modifier.isPublic(method.getModifiers()));
        } catch (final ClassNotFoundException e) {
            return false;
        }
    }

    private static List<String> sources(final String prefix) throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix)).map(BindingPageTest::read).toList();
        }
    }

    private static String read(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
