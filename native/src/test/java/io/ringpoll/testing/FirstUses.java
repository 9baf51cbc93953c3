package io.ringpoll.testing;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Calls each public constructor and static method of the types in lists of the public API that takes only numbers, booleans and
 * texts, in a JVM without a flag, and prints the failures: errors of the JVM, which name no flag.
 */
public final class FirstUses {
    private static final PrintStream OUT = System.out;
    private static final Pattern TYPE = Pattern.compile("(?:final class|class|record|interface|enum) (\\S+)");

    private FirstUses() {
    }

    /** The names of modules, such as {@code native}. */
    public static void main(final String[] modules) throws IOException, ReflectiveOperationException {
        int calls = 0;
        String named = "";
        for (final String module : modules) {
            for (final String line : Files.readAllLines(Path.of("..", "api", module + ".txt"))) {
                final Matcher type = TYPE.matcher(line);
                if (type.matches()) {
                    for (final Executable executable : executables(type.group(1))) {
                        calls++;
                        final Throwable thrown = thrownBy(executable);
                        if (thrown instanceof Error) {
                            OUT.println(executable + ": " + thrown);
                        } else if (thrown != null && String.valueOf(thrown.getMessage()).contains("the JVM needs the flag")) {
                            named = thrown.getMessage();
                        }
                    }
                }
            }
        }
        OUT.println((calls > 5 ? "called" : "too few calls") + "; " + named);
    }

    private static List<Executable> executables(final String type) throws ClassNotFoundException {
        final Class<?> loaded = Class.forName(type, false, FirstUses.class.getClassLoader());
        final List<Executable> all = new ArrayList<>();
        if (!loaded.isEnum() && !Modifier.isAbstract(loaded.getModifiers())) {
            all.addAll(List.of(loaded.getConstructors()));
        }
        Arrays.stream(loaded.getMethods()).filter(method -> Modifier.isStatic(method.getModifiers())).forEach(all::add);
        all.removeIf(executable -> Arrays.stream(executable.getParameterTypes()).anyMatch(each -> argument(each) == null));
        return all;
    }

    private static Object argument(final Class<?> type) {
        if (type == int.class) {
            return 1;
        }
        if (type == long.class) {
            return 1L;
        }
        if (type == boolean.class) {
            return false;
        }
        return type == String.class ? "127.0.0.1" : null;
    }

    private static Throwable thrownBy(final Executable executable) throws ReflectiveOperationException {
        final Object[] arguments = Arrays.stream(executable.getParameterTypes()).map(FirstUses::argument).toArray();
        final Callable<Object> call = executable instanceof final Constructor<?> constructor ?
            () -> constructor.newInstance(arguments) : () -> ((Method) executable).invoke(null, arguments);
        try {
            final Object made = call.call();
            if (made instanceof final AutoCloseable resource) {
                resource.close();
            }
            return null;
        } catch (final InvocationTargetException thrown) {
            return thrown.getCause();
        } catch (final Throwable thrown) {
            return thrown;
        }
    }
}
