package io.ringpoll.internal.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.util.function.BiFunction;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Checks the flags that the JVM needs for the binding, before a static initializer fails without them. Thread-safe.
 *
 * @see <a href="https://openjdk.org/jeps/472">JEP 472</a>
 */
public final class JvmFlags {
    private static final String UNSAFE_PACKAGE = "jdk.internal.misc";

    private static volatile boolean checked;

    private JvmFlags() {
    }

    /**
     * Throws if a flag is missing. Called by each public method that is the first to use off-heap memory or C.
     *
     * @param failure makes the exception of a message in one line, with the missing flag, and of a cause that may be null
     */
    public static void require(final BiFunction<String, Throwable, RuntimeException> failure) {
        if (!checked) {
            requireUnsafe(failure);
            requireNativeAccess(failure);
            checked = true;
        }
    }

    private static void requireUnsafe(final BiFunction<String, Throwable, RuntimeException> failure) {
        final Module agrona = UnsafeBuffer.class.getModule();
        if (!Object.class.getModule().isExported(UNSAFE_PACKAGE, agrona)) {
            throw failure.apply("the JVM needs the flag --add-opens=java.base/" + UNSAFE_PACKAGE + "=" + nameOf(agrona) +
                ": Agrona accesses off-heap memory by this package", null);
        }
    }

    @SuppressWarnings("restricted")
    private static void requireNativeAccess(final BiFunction<String, Throwable, RuntimeException> failure) {
        final Module binding = JvmFlags.class.getModule();
        if (!binding.isNativeAccessEnabled()) {
            try {
                // Permitted with a warning, unless the JVM denies it.
                Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid());
            } catch (final IllegalCallerException denied) {
                throw failure.apply(
                    "the JVM needs the flag --enable-native-access=" + nameOf(binding) + ": the binding calls C", denied);
            }
        }
    }

    private static String nameOf(final Module module) {
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }
}
