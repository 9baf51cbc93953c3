package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.device.Device;
import io.ringpoll.testing.JavaProcess;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of the JVM closes a set, and the calls of other shutdown hooks report it. */
@Timeout(120)
class ShutdownTest {
    @Test
    void shouldReportThatTheEndOfTheJvmHasClosedIt() {
        assertEquals("""
            IllegalStateException: server was closed by JVM shutdown
            IllegalStateException: server was closed by JVM shutdown""", JavaProcess.create()
            .property(Device.DEVICE_PROPERTY, "loopback").timeoutSeconds(100).run(Program.class).strip());
    }

    /** A program with a hook that uses a set after its end. */
    static final class Program {
        private Program() {
        }

        public static void main(final String[] arguments) {
            final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
            final ConnectionSet set = ConnectionSet.builder().name("server").shutdownTimeoutNs(TimeUnit.SECONDS.toNanos(20))
                .listener((connection, buffer, offset, length) -> true).start();
            set.listen(0);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                set.awaitClose();
                out.println(attempt(() -> set.listen(0)));
                out.println(attempt(() -> set.connect("127.0.0.1", 1)));
            }));
            System.exit(0);
        }

        private static String attempt(final Callable<Object> call) {
            try {
                return String.valueOf(call.call());
            } catch (final Exception refused) {
                return refused.getClass().getSimpleName() + ": " + refused.getMessage();
            }
        }
    }
}
