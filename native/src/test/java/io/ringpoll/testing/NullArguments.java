package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Calls each public method of the public classes of a package with null for one argument after the other. The exception is
 * correct if its message names the parameter or its type, and the top frame of this project that is in a public class is in the
 * class of the method.
 */
public final class NullArguments {
    private static final String PROJECT = "io.ringpoll.";

    private final Map<Class<?>, Object> samples = new HashMap<>();
    private final Set<String> meaningful = new HashSet<>();
    private final Set<String> unused = new HashSet<>();
    private final List<String> faults = new ArrayList<>();

    /** Adds an object that methods of its class are called on, and that is an argument of its types. */
    public NullArguments sample(final Object object, final Class<?>... types) {
        samples.put(object.getClass(), object);
        for (final Class<?> type : types) {
            samples.put(type, object);
        }
        return this;
    }

    /** Names parameters for which null has a meaning, as {@code Type.method(parameter)}. */
    public NullArguments meaningful(final String... parameters) {
        meaningful.addAll(List.of(parameters));
        unused.addAll(List.of(parameters));
        return this;
    }

    /** Checks the public classes of the package that a class is in. */
    public NullArguments check(final Class<?> member) {
        final List<String> names = namesBeside(member);
        assertFalse(names.isEmpty(), () -> "there are no classes in the package of " + member);
        for (final String name : names) {
            try {
                checkClass(Class.forName(member.getPackageName() + "." + name.substring(0, name.length() - ".class".length()),
                    false, member.getClassLoader()));
            } catch (final ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
        return this;
    }

    /** The violations, one line per parameter; empty if there are none. */
    public String faults() {
        unused.forEach(parameter -> faults.add(parameter + ": there is no such parameter"));
        return String.join("\n", faults);
    }

    private static List<String> namesBeside(final Class<?> member) {
        try {
            final URI place = member.getResource(member.getSimpleName() + ".class").toURI();
            if (!"jar".equals(place.getScheme())) {
                return classesIn(Path.of(place).getParent());
            }
            try (FileSystem jar = FileSystems.newFileSystem(place, Map.of())) {
                return classesIn(jar.getPath(member.getPackageName().replace('.', '/')));
            }
        } catch (final IOException | URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> classesIn(final Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class")).sorted().toList();
        }
    }

    private void checkClass(final Class<?> type) {
        if (!isPublic(type) || isTest(type)) {
            return;
        }
        for (final Constructor<?> constructor : type.getConstructors()) {
            if (!type.isRecord() && !Modifier.isAbstract(type.getModifiers())) {
                check(type, constructor, "new", arguments -> constructor.newInstance(arguments));
            }
        }
        for (final Method method : type.getDeclaredMethods()) {
            // A default method is checked where it is implemented.
            final boolean isCallable = !(type.isInterface() && !Modifier.isStatic(method.getModifiers())) &&
                Modifier.isPublic(method.getModifiers()) && !Modifier.isAbstract(method.getModifiers()) &&
                !method.isSynthetic() && !method.getName().equals("equals") && !method.getName().equals("valueOf");
            if (isCallable) {
                final Object target = Modifier.isStatic(method.getModifiers()) ? null : samples.get(type);
                if (target == null && !Modifier.isStatic(method.getModifiers())) {
                    if (hasReference(method)) {
                        faults.add(type.getSimpleName() + "." + method.getName() + ": there is no sample of the class");
                    }
                } else {
                    check(type, method, method.getName(), arguments -> method.invoke(target, arguments));
                }
            }
        }
    }

    private static boolean isTest(final Class<?> type) {
        final String path = type.getProtectionDomain().getCodeSource().getLocation().getPath();
        return path.contains("test-classes") || path.endsWith("-tests.jar") || type.getSimpleName().endsWith("Test");
    }

    private static boolean hasReference(final Executable method) {
        return Arrays.stream(method.getParameterTypes()).anyMatch(type -> !type.isPrimitive());
    }

    private void check(final Class<?> type, final Executable method, final String name, final Call call) {
        final Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            final String key = type.getSimpleName() + "." + name + "(" + parameters[i].getName() + ")";
            if (!parameters[i].getType().isPrimitive() && !meaningful.contains(key)) {
                final Object[] arguments = new Object[parameters.length];
                for (int other = 0; other < parameters.length; other++) {
                    arguments[other] = other == i ? null : sampleOf(parameters[other].getType());
                }
                judge(type, key, parameters[i], call, arguments);
            }
            unused.remove(key);
        }
    }

    private void judge(
        final Class<?> type, final String key, final Parameter parameter, final Call call, final Object[] arguments) {
        try {
            call.with(arguments);
            faults.add(key + ": null is accepted");
        } catch (final InvocationTargetException e) {
            final Throwable thrown = e.getCause();
            final String message = String.valueOf(thrown.getMessage());
            if (!(thrown instanceof NullPointerException || thrown instanceof IllegalArgumentException)) {
                faults.add(key + ": " + thrown);
            } else if (!isNamed(message, parameter)) {
                faults.add(key + " is not named: " + message);
            } else if (!type.equals(topOf(thrown))) {
                faults.add(key + " is not refused by " + type.getSimpleName() + ", but in " + topOf(thrown) + ": " + message);
            }
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(key, e);
        }
    }

    private static boolean isNamed(final String message, final Parameter parameter) {
        final String text = message.toLowerCase(Locale.ROOT).replace(" ", "");
        return text.contains("null") && (text.contains(parameter.getName().toLowerCase(Locale.ROOT)) ||
            text.contains(parameter.getType().getSimpleName().toLowerCase(Locale.ROOT).replace("[]", "")));
    }

    /** The top frame's public class of this project. */
    private static Class<?> topOf(final Throwable thrown) {
        for (final StackTraceElement frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith(PROJECT)) {
                try {
                    final Class<?> type = Class.forName(frame.getClassName());
                    if (isPublic(type)) {
                        return type;
                    }
                } catch (final ClassNotFoundException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        return null;
    }

    private static boolean isPublic(final Class<?> type) {
        for (Class<?> part = type; part != null; part = part.getDeclaringClass()) {
            if (!Modifier.isPublic(part.getModifiers())) {
                return false;
            }
        }
        return true;
    }

    private Object sampleOf(final Class<?> type) {
        if (samples.containsKey(type)) {
            return samples.get(type);
        }
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 1;
        }
        if (type == long.class) {
            return 1L;
        }
        if (type == short.class) {
            return (short) 1;
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 0);
        }
        return type == String.class ? "text" : null;
    }

    /** A method, or a constructor. */
    @FunctionalInterface
    private interface Call {
        void with(Object... arguments) throws ReflectiveOperationException;
    }
}
