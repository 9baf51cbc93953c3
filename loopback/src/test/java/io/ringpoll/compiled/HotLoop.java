package io.ringpoll.compiled;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LegacyCompletion;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.RpmaError;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a typical user loop around calls of the binding on its own thread until C2 has compiled it; then the main thread requests
 * safepoints and handshakes, and closes the resources of the loop, which ends it.
 */
enum HotLoop {
    /** Polls an empty queue. */
    POLL("poll") {
        @Override
        void run(final ConnectedPair pair) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            start(() -> poll(queue));
        }
    },
    /** Polls by the call of librpma up to 0.11. */
    LEGACY("pollLegacy") {
        @Override
        void run(final ConnectedPair pair) {
            start(() -> pollLegacy(pair.client().completionQueue()));
        }
    },
    /** Polls by the function pointer of the device. */
    VERBS("pollVerbs") {
        @Override
        void run(final ConnectedPair pair) {
            final VerbsCompletionQueue queue = pair.closed(pair.client().completionQueue().openVerbs());
            start(() -> pollVerbs(queue));
        }
    },
    /** Arms the queue before each poll. */
    NOTIFY("armAndPoll") {
        @Override
        void run(final ConnectedPair pair) {
            final VerbsCompletionQueue queue = pair.closed(pair.client().completionQueue().openVerbs());
            start(() -> armAndPoll(queue));
        }
    },
    /** Posts each receive again, for messages that the other side sends as fast as it can. */
    REPOST("repost") {
        @Override
        void run(final ConnectedPair pair) {
            final LocalMemoryRegion memory = pair.memory(4096);
            for (int i = 0; i < DEPTH; i++) {
                pair.server().receive(memory, 64L * i, 64, 64L * i);
            }
            start(() -> repost(pair.server(), memory));
            start(() -> send(pair.client(), memory));
        }
    },
    /** Sends, and polls each completion. */
    SEND("send") {
        @Override
        void run(final ConnectedPair pair) {
            REPOST.run(pair);
        }
    },
    /** Posts receives to a shared queue, most of which are refused. */
    SHARED("postShared") {
        @Override
        void run(final ConnectedPair pair) {
            final LocalMemoryRegion memory = pair.memory(4096);
            try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(DEPTH)) {
                final SharedReceiveQueue queue = pair.closed(pair.peer().sharedReceiveQueue(config));
                start(() -> postShared(queue, memory));
            }
        }
    };

    /** Printed at the end. */
    static final String END = "all loops reached their safepoints";

    private static final PrintStream OUT = System.out;
    private static final int DEPTH = 16;
    private static final int ROUNDS = 2;
    private static final int SAFEPOINTS = 10;
    private static final long JOIN_MS = TimeUnit.SECONDS.toMillis(20);
    private static final List<Thread> THREADS = new ArrayList<>();

    private static long polled;

    private final String method;

    HotLoop(final String method) {
        this.method = method;
    }

    /** Starts the loop's threads. */
    abstract void run(ConnectedPair pair);

    /** Runs one loop after the other. */
    public static void main(final String... arguments) throws InterruptedException {
        for (final HotLoop loop : values()) {
            OUT.println(loop);
            run(loop);
        }
        OUT.println(END);
    }

    private static void run(final HotLoop loop) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            final ConnectedPair pair = ConnectedPair.of(config -> config.sqSize(DEPTH).rqSize(DEPTH).cqSize(4 * DEPTH));
            loop.run(pair);
            CompiledCode.awaitC2(HotLoop.class, loop.method);
            for (int i = 0; i < SAFEPOINTS; i++) {
                System.gc();
                Arena.ofShared().close();
            }
            pair.close();
            for (final Thread thread : THREADS) {
                thread.join(JOIN_MS);
                if (thread.isAlive()) {
                    throw new IllegalStateException("the loop does not end");
                }
            }
            THREADS.clear();
        }
    }

    private static void start(final Runnable body) {
        final Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
        THREADS.add(thread);
    }

    private static void poll(final RpmaCompletionQueue queue) {
        final Completions completions = new Completions();
        while (true) {
            final int got = queue.poll(completions.records(), 0, DEPTH);
            if (got < 0) {
                return;
            }
            polled += got;
        }
    }

    private static void pollLegacy(final RpmaCompletionQueue queue) {
        final LegacyCompletion completion = new LegacyCompletion();
        int result = RpmaError.NO_COMPLETION;
        while (result == RpmaError.NO_COMPLETION) {
            result = queue.getCompletion(completion);
        }
    }

    private static void pollVerbs(final VerbsCompletionQueue queue) {
        final Completions completions = new Completions();
        while (true) {
            final int got = queue.poll(completions.records(), 0, DEPTH);
            if (got < 0) {
                return;
            }
            polled += got;
        }
    }

    private static void armAndPoll(final VerbsCompletionQueue queue) {
        final Completions completions = new Completions();
        int result = 0;
        try {
            while (result >= 0) {
                queue.requestNotification(false);
                result = queue.poll(completions.records(), 0, DEPTH);
            }
        } catch (final IllegalStateException closed) {
            // The end of a round.
        }
    }

    private static void repost(final Connection server, final LocalMemoryRegion memory) {
        final Completions completions = new Completions();
        try {
            while (true) {
                final int got = server.completionQueue().poll(completions.records(), 0, DEPTH);
                if (got < 0) {
                    return;
                }
                for (int i = 0; i < got; i++) {
                    server.receive(memory, completions.at(i).workRequestId(), 64, completions.at(i).workRequestId());
                }
            }
        } catch (final IllegalStateException closed) {
            // The end of a round.
        }
    }

    private static void send(final Connection client, final LocalMemoryRegion memory) {
        final Completions completions = new Completions();
        try {
            while (true) {
                client.send(memory, 2048, 64, CompletionFlag.ALWAYS, 1);
                client.completionQueue().poll(completions.records(), 0, DEPTH);
            }
        } catch (final IllegalStateException closed) {
            // The end of a round.
        }
    }

    private static void postShared(final SharedReceiveQueue queue, final LocalMemoryRegion memory) {
        try {
            while (true) {
                queue.receive(memory, 0, 64, 1);
            }
        } catch (final IllegalStateException closed) {
            // The end of a round.
        }
    }
}
