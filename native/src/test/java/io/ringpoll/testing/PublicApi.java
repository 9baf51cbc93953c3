package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The public surface of one artifact, from its compiled classes: the public types of its exported packages, with the members that
 * users can call or override. {@code api/MODULE.txt} holds it, so that a change of it is part of a diff.
 */
public final class PublicApi {
    /** System property that makes the tests write the lists instead of comparing. */
    public static final String WRITE_PROPERTY = "ringpoll.api.write";

    private static final Path CLASSES = Path.of("target", "classes");
    private static final String INTERNAL = "io.ringpoll.internal.";

    private final Set<String> packages;

    private PublicApi(final Set<String> packages) {
        this.packages = packages;
    }

    /** Fails if the public surface of the module at hand is not the listed one, or names an internal type. */
    public static void assertAsListed(final String module) throws IOException {
        final String found = new PublicApi(exported()).text();
        assertEquals("", found.lines().filter(line -> line.contains(INTERNAL)).collect(Collectors.joining("\n")),
            "internal types in public signatures");
        final Path list = Path.of("..", "api", module + ".txt");
        if (Boolean.getBoolean(WRITE_PROPERTY)) {
            Files.writeString(list, found);
        }
        assertEquals(Files.exists(list) ? Files.readString(list) : "", found,
            "the public API differs from api/" + module + ".txt; if that is intended, write the list anew: " +
                "mvn -Dtest=ApiTest -D" + WRITE_PROPERTY +
                "=true -Dsurefire.failIfNoSpecifiedTests=false -Dringpoll.skipCTests test");
    }

    /** Packages that are exported to everybody; without a module descriptor, all that are not internal. */
    private static Set<String> exported() throws IOException {
        final Path descriptor = CLASSES.resolve("module-info.class");
        if (Files.exists(descriptor)) {
            try (var in = Files.newInputStream(descriptor)) {
                return ModuleDescriptor.read(in).exports().stream().filter(export -> !export.isQualified())
                    .map(ModuleDescriptor.Exports::source).collect(Collectors.toCollection(TreeSet::new));
            }
        }
        return classNames().filter(name -> !name.startsWith(INTERNAL)).map(name -> name.substring(0, name.lastIndexOf('.')))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> classNames() throws IOException {
        try (Stream<Path> files = Files.walk(CLASSES)) {
            return files.map(file -> CLASSES.relativize(file).toString())
                .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).sorted().toList().stream();
        }
    }

    private String text() throws IOException {
        final StringBuilder text = new StringBuilder();
        for (final String name : classNames().toList()) {
            final Class<?> type = load(name);
            if (packages.contains(type.getPackageName()) && isVisible(type)) {
                text.append(describe(type)).append('\n');
                members(type).forEach(member -> text.append("    ").append(member).append('\n'));
            }
        }
        return text.toString();
    }

    /** Without its static initializer, which may need a device. */
    private static Class<?> load(final String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (final ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isVisible(final Class<?> type) {
        final Class<?> outer = type.getDeclaringClass();
        return Modifier.isPublic(type.getModifiers()) && (outer == null || isVisible(outer));
    }

    private static String describe(final Class<?> type) {
        final String kind = type.isAnnotation() ? "annotation" : type.isInterface() ? "interface" : type.isEnum() ? "enum" :
            type.isRecord() ? "record" : "class";
        final int modifiers = type.getModifiers() & (Modifier.ABSTRACT | Modifier.FINAL);
        final String prefix = "class".equals(kind) && modifiers != 0 ? Modifier.toString(modifiers) + " " : "";
        return prefix + kind + " " + type.getName();
    }

    private Set<String> members(final Class<?> type) {
        final Set<String> lines = new TreeSet<>();
        // A sealed type has no subclasses but the listed ones.
        final boolean open = !Modifier.isFinal(type.getModifiers()) && !type.isSealed();
        for (final Constructor<?> one : type.getDeclaredConstructors()) {
            if (isUsable(one, open)) {
                lines.add(modifiers(one) + "<init>" + signature(one));
            }
        }
        for (final Field one : type.getDeclaredFields()) {
            if (isUsable(one, open)) {
                lines.add(modifiers(one) + one.getGenericType().getTypeName() + " " + one.getName());
            }
        }
        for (final Method one : methods(type)) {
            if (isUsable(one, open) && !one.isBridge()) {
                lines.add(modifiers(one) + one.getGenericReturnType().getTypeName() + " " + one.getName() + signature(one));
            }
        }
        return lines;
    }

    /** Its own, and those that it inherits from types which users cannot see. */
    private List<Method> methods(final Class<?> type) {
        final List<Method> methods = new ArrayList<>(List.of(type.getDeclaredMethods()));
        Class<?> above = type.getSuperclass();
        while (above != null && above.getName().startsWith("io.ringpoll.") &&
            !(packages.contains(above.getPackageName()) && isVisible(above))) {
            methods.addAll(List.of(above.getDeclaredMethods()));
            above = above.getSuperclass();
        }
        return methods;
    }

    private static boolean isUsable(final Member member, final boolean open) {
        return !member.isSynthetic() &&
            (Modifier.isPublic(member.getModifiers()) || open && Modifier.isProtected(member.getModifiers()));
    }

    private static String modifiers(final Member member) {
        final int shown = member.getModifiers() & (Modifier.PROTECTED | Modifier.STATIC | Modifier.ABSTRACT);
        return shown == 0 ? "" : Modifier.toString(shown) + " ";
    }

    private static String signature(final Executable executable) {
        return Arrays.stream(executable.getGenericParameterTypes()).map(Type::getTypeName)
            .collect(Collectors.joining(", ", "(", ")"));
    }
}
