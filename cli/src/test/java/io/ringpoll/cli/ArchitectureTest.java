package io.ringpoll.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.ringpoll.cli.fixture.even.Even;
import io.ringpoll.cli.fixture.odd.Odd;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The arrows between modules, cycles between packages, and libraries that only some modules may use: in the compiled classes. */
@Timeout(300)
class ArchitectureTest {
    private static final Set<String> LIBRARIES =
        Set.of("native", "loopback", "poller", "pipeline", "connections", "ratis", "tuning");

    /** Each module, and those that it may depend on. */
    static final Map<String, Set<String>> ARROWS = Map.of(
        "native", Set.of(),
        "loopback", Set.of("native"),
        "poller", Set.of("native"),
        "pipeline", Set.of("native", "poller"),
        "connections", Set.of("native", "poller", "pipeline"),
        "ratis", Set.of("native", "poller", "pipeline", "connections"),
        "tuning", Set.of("native", "pipeline"),
        "bench", LIBRARIES,
        "verify", LIBRARIES,
        "cli", with(LIBRARIES, "bench", "verify"));

    private static final Pattern MODULE = Pattern.compile("/([a-z]+)/target/(?:app/)?(?!.*/target/)");
    private static JavaClasses all;

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/") && !location.contains("-tests.jar"))
            .importPackages("io.ringpoll");
    }

    @Test
    void shouldSeeEveryModuleOfTheTable() {
        assertEquals(new TreeSet<>(ARROWS.keySet()),
            all.stream().map(ArchitectureTest::moduleOf).collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void shouldDependAlongTheArrowsOnly() {
        alongArrows(ARROWS).check(all);
    }

    @Test
    void shouldFindADependencyAgainstTheArrows() {
        final Map<String, Set<String>> wrong = new HashMap<>(ARROWS);
        wrong.put("poller", Set.of());
        final AssertionError found = assertThrows(AssertionError.class, () -> alongArrows(wrong).check(all));
        assertTrue(found.getMessage().contains("poller -> native"), found.getMessage());
        assertFalse(found.getMessage().contains("pipeline -> native"), found.getMessage());
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        noCycles().check(all);
    }

    @Test
    void shouldFindACycleBetweenPackages() {
        final JavaClasses cycle = new ClassFileImporter().importClasses(Even.class, Odd.class);
        final AssertionError found = assertThrows(AssertionError.class, () -> noCycles().check(cycle));
        assertTrue(found.getMessage().contains("Cycle detected"), found.getMessage());
    }

    @Test
    void shouldKeepTheBindingsOfLibrpmaAndVerbsApart() {
        noClasses().that().resideInAPackage("io.ringpoll.rpma..").should().dependOnClassesThat()
            .resideInAPackage("io.ringpoll.verbs..").check(all);
        noClasses().that().resideInAPackage("io.ringpoll.verbs..").should().dependOnClassesThat()
            .resideInAPackage("io.ringpoll.rpma..").check(all);
    }

    @Test
    void shouldReadOptionsInTheCommandLineOnly() {
        noClasses().that(areOutside("cli")).should().dependOnClassesThat().resideInAnyPackage("picocli..").check(all);
    }

    @Test
    void shouldKeepLibrariesOfProgramsOutOfLibraries() {
        noClasses().that(areOutside("bench", "verify", "cli")).should().dependOnClassesThat()
            .resideInAnyPackage("com.fasterxml..", "org.knowm..", "org.HdrHistogram..", "org.openjdk..", "io.aeron..",
                "org.jctools..").check(all);
    }

    private static ArchRule noCycles() {
        return slices().matching("io.ringpoll.(**)").should().beFreeOfCycles();
    }

    private static ArchRule alongArrows(final Map<String, Set<String>> arrows) {
        return classes().should(new ArchCondition<>("depend on other modules along the arrows only") {
            @Override
            public void check(final JavaClass origin, final ConditionEvents events) {
                final String from = moduleOf(origin);
                for (final Dependency dependency : origin.getDirectDependenciesFromSelf()) {
                    final String to = moduleOf(dependency.getTargetClass().getBaseComponentType());
                    if (!to.isEmpty() && !to.equals(from) && !arrows.getOrDefault(from, Set.of()).contains(to)) {
                        events.add(SimpleConditionEvent.violated(
                            dependency, from + " -> " + to + ": " + dependency.getDescription()));
                    }
                }
            }
        });
    }

    private static DescribedPredicate<JavaClass> areOutside(final String... modules) {
        return DescribedPredicate.describe(
            "are outside of " + List.of(modules), each -> !List.of(modules).contains(moduleOf(each)));
    }

    /** The folder of the module; empty for a class that is not this project's. */
    private static String moduleOf(final JavaClass each) {
        final Matcher place = MODULE.matcher(each.getSource().map(source -> source.getUri().toString()).orElse(""));
        return place.find() ? place.group(1) : "";
    }

    private static Set<String> with(final Set<String> some, final String... more) {
        final Set<String> both = new TreeSet<>(some);
        both.addAll(List.of(more));
        return both;
    }
}
