package io.ringpoll.compiled;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that post to one connection, poll it and close it concurrently, in rounds of some milliseconds: long writes, which are
 * plain downcalls, short ones by two threads, and receives.
 */
final class PostingThreads {
    /** Printed at the end. */
    static final String END = "closed under all threads";

    private static final PrintStream OUT = System.out;
    private static final long NS = TimeUnit.SECONDS.toNanos(6);
    private static final int LONG_BYTES = 16 << 20;
    private static final long MAX_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private PostingThreads() {
    }

    /** Runs rounds for some seconds. */
    public static void main(final String... arguments) {
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < NS) {
            round();
        }
        OUT.println(END);
    }

    private static void round() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.sqSize(16).rqSize(64).cqSize(128))) {
            final LocalMemoryRegion memory = pair.memory(LONG_BYTES);
            final RemoteMemoryRegion remote = pair.remote(memory);
            final Connection connection = pair.client();
            final List<OtherThread<Void>> threads = new ArrayList<>();
            threads.add(untilClosed(() -> connection.write(remote, 0, memory, 0, LONG_BYTES, CompletionFlag.ALWAYS, 1)));
            threads.add(untilClosed(() -> connection.write(remote, 0, memory, 0, 64, CompletionFlag.ALWAYS, 2)));
            threads.add(untilClosed(() -> connection.atomicWrite(remote, 0, 7, CompletionFlag.ALWAYS, 3)));
            threads.add(untilClosed(() -> connection.receive(memory, 0, 64, 4)));
            for (int i = 0; i < 2; i++) {
                threads.add(OtherThread.run(() -> {
                    final Completions completions = new Completions();
                    while (connection.completionQueue().poll(completions.records(), 0, 16) >= 0) {
                        Thread.onSpinWait();
                    }
                    return null;
                }));
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_DELAY_NS));
            connection.close();
            threads.forEach(OtherThread::result);
        }
    }

    private static OtherThread<Void> untilClosed(final Runnable post) {
        return OtherThread.run(() -> {
            try {
                while (true) {
                    post.run();
                }
            } catch (final IllegalStateException closed) {
                return null;
            }
        });
    }
}
