package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.AutoCloseableLock;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WaitCheckTest {
    private static final long LIMIT_MS = 20;
    private static final TimeDuration LONGER = TimeDuration.valueOf(10 * LIMIT_MS, TimeUnit.MILLISECONDS);

    private final WaitCheck check = new WaitCheck("test", TimeUnit.MILLISECONDS.toNanos(LIMIT_MS));

    @AfterEach
    void end() {
        check.end();
        // These are on purpose.
        WaitCheck.takeFound();
    }

    /** Runs the steps of a handler on a thread of its own. */
    private CompletableFuture<AssertionError> handle(final Consumer<WaitCheck.Call> steps) {
        return CompletableFuture.supplyAsync(() -> {
            final WaitCheck.Call call = check.ofCurrentThread();
            call.enter();
            steps.accept(call);
            return call.exit();
        });
    }

    private static void sleep(final TimeDuration time) {
        try {
            time.sleep();
        } catch (final InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldFindAHandlerInWhichTheEngineWaitsForALock() throws Exception {
        final ReentrantLock lock = new ReentrantLock();
        final CompletableFuture<AssertionError> handled;
        lock.lock();
        try {
            handled = handle(call -> AutoCloseableLock.acquire(lock).close());
            Nodes.await("the violation", () -> check.violations() == 1);
        } finally {
            lock.unlock();
        }
        final AssertionError violation = handled.get(30, TimeUnit.SECONDS);
        assertTrue(Arrays.stream(violation.getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals(AutoCloseableLock.class.getName())), violation.toString());
    }

    /** As {@link NoWaitsExtension} does after each test of the module. */
    @Test
    void shouldFailTheTestInWhichAHandlerWaits() throws Exception {
        NoWaitsExtension.check();
        handle(call -> {
            while (check.violations() == 0) {
                sleep(LONGER);
            }
        }).get(30, TimeUnit.SECONDS);
        final AssertionError failure = assertThrows(AssertionError.class, NoWaitsExtension::check);
        assertTrue(Arrays.stream(failure.getCause().getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals(TimeDuration.class.getName())), failure.toString());
        NoWaitsExtension.check();
    }

    /** The property of the test JVMs, and the extension. */
    @Test
    @EnabledIfSystemProperty(named = "basedir", matches = ".*", disabledReason = "is not run by Maven")
    void shouldCheckAllTestsOfTheModule() {
        final Long limitMs = Long.getLong(WaitCheck.PROPERTY);
        assertTrue(limitMs != null && limitMs <= 1000, WaitCheck.PROPERTY + " is " + limitMs);
        assertTrue(NoWaitsExtension.isRegistered());
    }

    @Test
    void shouldReportAWaitOnce() throws Exception {
        final AssertionError second = handle(call -> {
            while (check.violations() == 0) {
                sleep(LONGER);
            }
            sleep(LONGER);
            // A sample may see it at work between two waits.
            final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2 * LIMIT_MS);
            while (System.nanoTime() < endNs) {
                Thread.onSpinWait();
            }
            sleep(LONGER);
            assertEquals(1, check.violations());
            assertTrue(call.exit() != null);
            call.enter();
        }).get(30, TimeUnit.SECONDS);
        assertNull(second);
    }

    @Test
    void shouldNotReportTheWaitsOfTheTransport() throws Exception {
        final CountDownLatch never = new CountDownLatch(1);
        assertNull(handle(call -> {
            try {
                assertFalse(never.await(10 * LIMIT_MS, TimeUnit.MILLISECONDS));
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }).get(30, TimeUnit.SECONDS));
        assertEquals(0, check.violations());
    }

    /** A test of this module may wait in a handler, by means of a library of the engine, too. */
    @Test
    void shouldNotReportTheWaitsOfTests() throws Exception {
        assertNull(handle(call -> Uninterruptibles.sleepUninterruptibly(10 * LIMIT_MS, TimeUnit.MILLISECONDS))
            .get(30, TimeUnit.SECONDS));
        assertEquals(0, check.violations());
    }

    @Test
    void shouldNotReportAThreadBetweenTwoHandlers() throws Exception {
        assertNull(handle(call -> {
            assertNull(call.exit());
            sleep(LONGER);
            call.enter();
        }).get(30, TimeUnit.SECONDS));
        assertEquals(0, check.violations());
    }

    @Test
    void shouldEndTheConnectionOfAHandlerThatWaits() throws Exception {
        final String before = System.setProperty(WaitCheck.PROPERTY, Long.toString(LIMIT_MS));
        try (Nodes nodes = new Nodes()) {
            final Node[] self = new Node[1];
            final CountDownLatch ready = new CountDownLatch(1);
            final Nodes.Server server = nodes.server((type, request) -> {
                if (((RaftClientRequestProto) request).getMessage().getContent().isEmpty()) {
                    return Nodes.echo(type, request);
                }
                while (ready.getCount() > 0 || self[0].poller().waitCheck().violations() == 0) {
                    sleep(LONGER);
                }
                return Nodes.echo(type, request);
            });
            self[0] = server.node();
            ready.countDown();
            final Link link = Nodes.connect(nodes.client(), server.port());
            server.awaitOpened(1);
            final Link atServer = server.node().link(1);
            Nodes.assertEchoed(link, ByteString.EMPTY);
            assertTrue(atServer.isOpen(), "before its handler waits");
            final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(10));
            Nodes.await("its end", () -> !atServer.isOpen());
            Nodes.await("the end at the client", () -> !link.isOpen());
            if (reply.isCompletedExceptionally()) {
                // The reply may have left before the end of the connection.
                assertInstanceOf(AlreadyClosedException.class,
                    assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause());
            }
        } finally {
            restore(before);
        }
    }

    @Test
    void shouldNotCheckUnlessAsked() throws Exception {
        final String before = System.clearProperty(WaitCheck.PROPERTY);
        try (Nodes nodes = new Nodes()) {
            assertNull(nodes.client().poller().waitCheck());
        } finally {
            restore(before);
        }
    }

    private static void restore(final String before) {
        if (before == null) {
            System.clearProperty(WaitCheck.PROPERTY);
        } else {
            System.setProperty(WaitCheck.PROPERTY, before);
        }
    }
}
