package io.ringpoll.cli.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of the protocol between processes describes the one that the device has. */
class ProtocolPageTest {
    private static final Path SOURCES = Page.ROOT.resolve("loopback/src/main/c");

    private final Page page = Page.read(Page.ROOT.resolve("docs/internals/loopback-processes.md"));
    private final String prose = String.join("\n", page.prose());

    @Test
    void shouldNameTheVersion() throws IOException {
        final String version = only(Pattern.compile("#define LB_WIRE_VERSION (\\d+)u"), source("wire.h"));
        assertEquals(version, only(Pattern.compile("the version of the\\s+protocol, (\\d+) \\("), prose));
    }

    @Test
    void shouldHaveARowForEachMessage() throws IOException {
        final String types = only(Pattern.compile("enum message_type \\{ (.*) }"), source("cm_remote.c"));
        final List<String> named = rows("Messages").stream().map(row -> row.get(0).replaceFirst(",.*", "")).toList();
        assertEquals(List.of(types.replace(" = 1", "").split(", ")), named.subList(0, named.size() - 1));
        assertEquals("one byte", named.getLast());
    }

    @Test
    void shouldHaveTheStatesOfAnIdAndNoOthers() throws IOException {
        final String states = only(Pattern.compile("enum cm_state \\{(.*?)\n}", Pattern.DOTALL), source("cm.h"));
        final TreeSet<String> named = new TreeSet<>();
        for (final List<String> row : rows("The states of an end")) {
            named.addAll(List.of(row.get(0).split(", ")));
            named.add(row.get(4));
        }
        named.remove("");
        assertEquals(new TreeSet<>(all(Pattern.compile("CM_(\\w+)"), states).map(match -> match.group(1)).toList()), named);
    }

    @Test
    void shouldHaveEachFieldOfARecordInItsPlace() throws IOException {
        final String fields = only(Pattern.compile("struct lb_wire_record \\{(.*?)\n};", Pattern.DOTALL), source("wire.h"));
        final Map<String, Integer> places = places(fields);
        final List<List<String>> rows = rows("The segment");
        assertEquals(List.copyOf(places.keySet()).stream().sorted().toList(), rows.stream()
            .flatMap(row -> Stream.of(row.get(1).split(", "))).map(ProtocolPageTest::unquoted).sorted().toList());
        for (final List<String> row : rows) {
            final int first = Integer.parseInt(row.get(0).split(" ")[0]);
            assertEquals(first, places.get(unquoted(row.get(1).split(", ")[0])), () -> "the first byte of " + row.get(1));
        }
    }

    @Test
    void shouldHaveTheValuesOfKindsAndFlags() throws IOException {
        final String wire = source("wire.h");
        final String text = String.join("\n", rows("The segment").stream().map(Object::toString).toList());
        final String kinds = only(Pattern.compile("enum lb_wire_kind \\{(.*?)\n}", Pattern.DOTALL), wire);
        final String flags = only(Pattern.compile("/\\* Flags of a record. \\*/\nenum \\{(.*?)\n}", Pattern.DOTALL), wire);
        final List<MatchResult> values = all(Pattern.compile("LB_WIRE_(\\w+) = (\\d+)"), kinds + flags).toList();
        assertEquals(8, values.size());
        for (final MatchResult value : values) {
            final Pattern named = Pattern.compile("\\b" + value.group(1) + " " + value.group(2) + "\\b");
            assertTrue(named.matcher(text).find(), value.group());
        }
    }

    /** The first byte of each field of the record; the first member of a union decides where the next field is. */
    private static Map<String, Integer> places(final String fields) {
        final Map<String, Integer> places = new TreeMap<>();
        final Pattern field = Pattern.compile("uint(8|32|64)_t (\\w+);|(union \\{)|(struct \\{)|(})");
        int place = 0;
        int inUnion = -1;
        boolean inStruct = false;
        for (final MatchResult each : all(field, fields).toList()) {
            if (each.group(3) != null) {
                inUnion = place;
            } else if (each.group(4) != null) {
                inStruct = true;
            } else if (each.group(5) != null) {
                inUnion = inStruct ? inUnion : -1;
                inStruct = false;
            } else {
                final int size = Integer.parseInt(each.group(1)) / 8;
                final boolean isAgain = inUnion >= 0 && place > inUnion && !inStruct;
                if (!"what".equals(each.group(2))) {
                    places.put(each.group(2), isAgain ? inUnion : place);
                }
                place = isAgain ? place : place + size;
            }
        }
        assertEquals(64, place, "bytes of the header");
        return places;
    }

    /** The rows of the first table under a heading, without its head; a cell that is empty repeats nothing. */
    private List<List<String>> rows(final String heading) {
        final List<String> lines = page.prose();
        final int from = lines.indexOf("### " + heading);
        assertTrue(from >= 0, () -> "no heading '" + heading + "'");
        return lines.stream().skip(from + 1).takeWhile(line -> !line.startsWith("#")).dropWhile(line -> !line.startsWith("|"))
            .takeWhile(line -> line.startsWith("|")).skip(2)
            .map(line -> Stream.of(line.substring(1).split("\\|")).map(String::strip).toList()).toList();
    }

    private static String unquoted(final String code) {
        return code.replace("`", "");
    }

    private static String source(final String name) throws IOException {
        return Files.readString(SOURCES.resolve(name));
    }

    private static String only(final Pattern pattern, final String text) {
        final List<MatchResult> found = all(pattern, text).toList();
        assertEquals(1, found.size(), pattern::pattern);
        return found.getFirst().group(1);
    }

    private static Stream<MatchResult> all(final Pattern pattern, final String text) {
        return pattern.matcher(text).results();
    }
}
