package io.ringpoll.internal.device;

import io.ringpoll.device.DeviceException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
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
     * Throws if a flag is missing.
     *
     * @throws DeviceException with the missing flag
     */
    public static void require() {
        if (!checked) {
            requireUnsafe();
            requireNativeAccess();
            checked = true;
        }
    }

    private static void requireUnsafe() {
        final Module agrona = UnsafeBuffer.class.getModule();
        if (!Object.class.getModule().isExported(UNSAFE_PACKAGE, agrona)) {
            throw new DeviceException("the JVM needs the flag --add-opens=java.base/" + UNSAFE_PACKAGE + "=" + nameOf(agrona) +
                ": Agrona accesses off-heap memory by this package");
        }
    }

    @SuppressWarnings("restricted")
    private static void requireNativeAccess() {
        final Module binding = JvmFlags.class.getModule();
        if (!binding.isNativeAccessEnabled()) {
            try {
                // Permitted with a warning, unless the JVM denies it.
                Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid());
            } catch (final IllegalCallerException denied) {
                throw new DeviceException(
                    "the JVM needs the flag --enable-native-access=" + nameOf(binding) + ": the binding calls C", denied);
            }
        }
    }

    private static String nameOf(final Module module) {
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }
}
