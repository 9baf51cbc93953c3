package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.testing.LogCapture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The messages of earlier tests, which a thread of its own logs some time after they were written. */
final class EarlierLog {
    /** All too short for the descriptor of a region, so that the length is in the message. */
    private static final int LENGTHS = 16;
    private static final int ATTEMPTS = 10;
    private static final long ATTEMPT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final AtomicInteger NEXT = new AtomicInteger();

    private EarlierLog() {
    }

    /** Waits until all of them have been logged: a message that is written now follows them. */
    static void awaitLogged() throws InterruptedException {
        // A marker that was logged a short time ago would be a repeated one.
        RpmaLog.threshold(RpmaLog.threshold());
        try (LogCapture log = new LogCapture()) {
            // Another one if there was no room for it behind the earlier ones.
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                final byte[] invalid = new byte[1 + NEXT.getAndIncrement() % LENGTHS];
                assertThrows(RpmaException.class, () -> RemoteMemoryRegion.ofDescriptor(invalid));
                if (isLogged(log, "incorrect size of the descriptor: " + invalid.length + " bytes")) {
                    return;
                }
            }
            fail("no message has been logged: " + log.messages());
        }
    }

    private static boolean isLogged(final LogCapture log, final String part) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < ATTEMPT_NS) {
            if (log.messages().stream().anyMatch(message -> message.contains(part))) {
                return true;
            }
            Thread.sleep(1);
        }
        return false;
    }
}
