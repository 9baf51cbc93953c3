package io.ringpoll.testing;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/** The methods that the JVM has compiled so far, by the diagnostic command {@code Compiler.codelist}. */
public final class CompiledCode {
    private static final int C2_LEVEL = 4;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(40);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private CompiledCode() {
    }

    /** Waits until C2 has compiled a method, which other threads run meanwhile. */
    public static void awaitC2(final Class<?> type, final String method) {
        final String name = type.getName() + "." + method;
        // "1234 4 0 io.ringpoll.Type.method(I)V [...]": the number, the level, the state, the method.
        final Pattern line = Pattern.compile("^\\s*\\d+\\s+" + C2_LEVEL + "\\s+\\d+\\s+" + Pattern.quote(name) + "\\(",
            Pattern.MULTILINE);
        final long startNs = System.nanoTime();
        while (!line.matcher(list()).find()) {
            if (System.nanoTime() - startNs > TIMEOUT_NS) {
                throw new IllegalStateException(name + " is not compiled after 40 s");
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static String list() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerCodelist", null, null);
        } catch (final JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
