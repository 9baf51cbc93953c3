package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.device.DeviceLibraries;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** librpma's messages in Java's log, also those that it writes from within a critical downcall. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LogTest {
    /** Enough for the JIT compiler to take part. */
    private static final int MANY = 20_000;

    private LogCapture log;

    @BeforeEach
    void capture() throws InterruptedException {
        EarlierLog.awaitLogged();
        log = new LogCapture();
    }

    @AfterEach
    void release() {
        RpmaLog.threshold(LogLevel.WARNING);
        log.close();
    }

    @Test
    void shouldLogAProviderErrorFromWithinAPoll() throws InterruptedException {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            PollFault.whileFailing(pair.peer().context(),
                () -> assertEquals(RpmaError.PROVIDER, queue.poll(completions.records(), 0, 1)));
        }
        assertTrue(log.await(message -> message.startsWith("SEVERE ibv_poll_cq() failed") &&
            message.contains("[rpma_cq_get_wc, cq.c:")), () -> log.messages().toString());
        assertFalse(log.threads().contains(Thread.currentThread().threadId()), "logged from within the call");
    }

    @Test
    void shouldSurviveAFloodOfMessagesFromWithinPolls() throws InterruptedException {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            PollFault.whileFailing(pair.peer().context(), () -> {
                for (int i = 0; i < MANY; i++) {
                    assertEquals(RpmaError.PROVIDER, queue.poll(completions.records(), 0, 1));
                }
            });
        }
        assertTrue(log.await(message -> message.contains("messages of librpma were lost")), "more came than the ring holds");
    }

    @Test
    void shouldLogRepeatedErrorsEverMoreRarely() throws InterruptedException {
        final String repeated = "incorrect size of the descriptor: 17 bytes";
        for (int i = 0; i < 10; i++) {
            assertThrows(RpmaException.class, () -> RemoteMemoryRegion.ofDescriptor(new byte[17]));
        }
        assertThrows(RpmaException.class, () -> RemoteMemoryRegion.ofDescriptor(new byte[18]));
        assertTrue(log.await(message -> message.contains(": 18 bytes")), () -> log.messages().toString());
        final List<String> logged = log.messages().stream().filter(message -> message.contains(repeated))
            .map(message -> message.substring(message.indexOf(']') + 1)).toList();
        assertEquals(List.of("", " (2 times)", " (4 times)", " (8 times)"), logged, () -> log.messages().toString());
    }

    @Test
    void shouldLogFromTheThresholdOn() throws InterruptedException {
        RpmaLog.threshold(LogLevel.DEBUG);
        assertEquals(LogLevel.DEBUG, RpmaLog.threshold());
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.client().completionQueue().poll(new Completions().records(), 0, 1);
        }
        assertTrue(log.await(message -> message.startsWith("INFO Connection established")), () -> log.messages().toString());
        assertTrue(log.await(message -> message.startsWith("FINER No completion in the CQ")), () -> log.messages().toString());
    }

    @Test
    void shouldLogNothingWhenDisabledAndStillReportAFullQueue() {
        RpmaLog.threshold(LogLevel.DISABLED);
        assertEquals(LogLevel.DISABLED, RpmaLog.threshold());
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertThrows(RpmaException.class, () -> pair.peer().listen("203.0.113.1", "7204"), "not an address of this machine");
            int accepted = 0;
            while (pair.server().receive(null, 0, 0, 1)) {
                assertTrue(++accepted < MANY, "the queue is never full");
            }
        }
        assertEquals(List.of(), log.messages());
    }

    @Test
    void shouldLeaveTheLogToLibrpmaWithoutTheBindingsLibraryOrIfAsked() {
        final DeviceLibraries libraries = Libraries.current();
        final long drains = drains();
        LogSink.install(new DeviceLibraries(
            libraries.ibverbs(), libraries.rdmacm(), libraries.rpma(), Optional.empty()));
        final String before = System.setProperty(RpmaLog.DESTINATION_PROPERTY, "librpma");
        try {
            LogSink.install(libraries);
        } finally {
            if (before == null) {
                System.clearProperty(RpmaLog.DESTINATION_PROPERTY);
            } else {
                System.setProperty(RpmaLog.DESTINATION_PROPERTY, before);
            }
        }
        assertEquals(drains, drains(), "the log was installed again");
    }

    private static long drains() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> "ringpoll-librpma-log".equals(thread.getName()))
            .count();
    }

    @Test
    void shouldNotLogAFullQueue() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            while (pair.server().receive(null, 0, 0, 1)) {
                Thread.onSpinWait();
            }
            assertFalse(pair.server().receive(null, 0, 0, 1));
            assertThrows(RpmaException.class, () -> pair.peer().listen("203.0.113.1", "7204"), "not an address of this machine");
        }
        assertTrue(log.await(message -> message.contains("rdma_bind_addr")), () -> log.messages().toString());
        assertTrue(log.messages().stream().noneMatch(message -> message.contains("ibv_post_recv")),
            () -> log.messages().toString());
    }

    @Test
    void shouldContinueAfterTheFailureOfALogHandler() throws Exception {
        final Peer peer = Peer.ofLocal(TestDevice.address());
        peer.close();
        final Thread drain = Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> "ringpoll-librpma-log".equals(thread.getName())).findAny().orElseThrow();
        final CompletableFuture<Throwable> reported = new CompletableFuture<>();
        final IllegalStateException full = new IllegalStateException("the disk is full");
        final Logger logger = Logger.getLogger(RpmaLog.LOGGER_NAME);
        logger.setFilter(record -> {
            throw full;
        });
        drain.setUncaughtExceptionHandler((thread, failure) -> reported.complete(failure));
        try {
            assertThrows(RpmaException.class, () -> Peer.ofLocal("203.0.113.1"));
            assertSame(full, reported.get(30, TimeUnit.SECONDS));
        } finally {
            logger.setFilter(null);
            drain.setUncaughtExceptionHandler(null);
        }
        assertThrows(RpmaException.class, () -> Peer.ofLocal("203.0.113.2"));
        assertTrue(log.await(message -> message.contains("failed")), () -> log.messages().toString());
    }

    @Test
    void shouldKeepTheAuxiliaryThreshold() {
        final LogLevel before = RpmaLog.auxiliaryThreshold();
        RpmaLog.auxiliaryThreshold(LogLevel.NOTICE);
        assertEquals(LogLevel.NOTICE, RpmaLog.auxiliaryThreshold());
        RpmaLog.auxiliaryThreshold(before);
    }
}
