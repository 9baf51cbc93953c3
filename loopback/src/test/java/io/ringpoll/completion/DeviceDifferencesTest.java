package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.os.Errno;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Intended differences of the loopback device and Soft-RoCE: the rows of docs/internals/devices.md that one
 * process can show quickly.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceDifferencesTest {
    private static final int LENGTH = 64;
    /** For completions that must not arrive. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(300);
    /** For a completion that may arrive. */
    private static final long LATE_NS = TimeUnit.SECONDS.toNanos(2);
    /** No status of a completion. */
    private static final int NONE = -1;
    /** Of many packets. */
    private static final int LONG_LENGTH = 1 << 20;

    private final Completions completions = new Completions();
    private ConnectedPair pair;
    private Connection client;
    private Connection server;
    private LocalMemoryRegion memory;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.ofDefaults();
        final String device = pair.peer().context().name();
        assumeTrue(TestDevice.isLoopback() || device.startsWith("rxe"), device + " is neither the loopback device nor Soft-RoCE");
        client = pair.client();
        server = pair.server();
        memory = pair.memory(LENGTH);
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldNameAMessageThatIsLongerThanItsReceive() {
        assertTrue(server.receive(memory, 0, 8, 1));
        assertTrue(client.send(memory, 0, 16, CompletionFlag.ALWAYS, 2));
        assertEquals(either(WcStatus.LOC_LEN_ERR, WcStatus.LOC_QP_OP_ERR), status(server));
        assertEquals(either(WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR), status(client));
    }

    @Test
    void shouldFlagAReceive() {
        assertTrue(server.receive(memory, 0, 8, 1));
        assertTrue(client.send(memory, 8, 8, CompletionFlag.ALWAYS, 2));
        assertEquals(either(0, WorkCompletion.FLAG_GRH), completions.awaitOne(server.completionQueue()).flags());
    }

    @Test
    void shouldFlagImmediateDataAtBothEnds() {
        final int immediate = WorkCompletion.FLAG_WITH_IMMEDIATE;
        assertTrue(server.receive(memory, 0, 8, 1));
        assertTrue(client.sendWithImmediate(memory, 8, 8, CompletionFlag.ALWAYS, 7, 2));
        assertEquals(
            either(immediate, immediate | WorkCompletion.FLAG_GRH), completions.awaitOne(server.completionQueue()).flags());
        assertEquals(either(0, immediate), completions.awaitOne(client.completionQueue()).flags());
    }

    @Test
    void shouldTreatAReceiveInTheErrorState() {
        client.disconnect();
        assertEquals(ConnectionEvent.CLOSED, server.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
        server.disconnect();
        assertTrue(server.receive(memory, 0, 8, 1));
        if (TestDevice.isLoopback()) {
            assertEquals(WcStatus.WR_FLUSH_ERR, status(server));
            return;
        }
        final long deadlineNs = System.nanoTime() + QUIET_NS;
        while (System.nanoTime() - deadlineNs < 0) {
            assertEquals(0, server.completionQueue().poll(completions.records(), 0, 1));
        }
    }

    /** A receive that is posted after an error completes everywhere; on Soft-RoCE, not before the disconnect. */
    @Test
    void shouldFlushByTheDisconnectAReceiveThatIsPostedAfterAnError() {
        assertTrue(server.receive(memory, 0, 8, 1));
        assertTrue(client.send(memory, 0, 16, CompletionFlag.ALWAYS, 2));
        assertEquals(either(WcStatus.LOC_LEN_ERR, WcStatus.LOC_QP_OP_ERR), status(server));
        assertEquals(either(WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR), status(client));
        for (final Connection failed : List.of(client, server)) {
            assertTrue(failed.receive(memory, 0, 8, 3));
            failed.disconnect();
            assertEquals(WcStatus.WR_FLUSH_ERR, status(failed));
        }
    }

    /** On Soft-RoCE a read may have no completion before the disconnect if its memory is deregistered between two packets. */
    @Test
    void shouldFlushByTheDisconnectAReadWhoseMemoryIsDeregisteredMeanwhile() throws Exception {
        final LocalMemoryRegion landing = pair.memory(LONG_LENGTH);
        final LocalMemoryRegion source = pair.memory(LONG_LENGTH);
        final RemoteMemoryRegion remote = pair.remote(source);
        // Late enough for the first packets of a read.
        final Thread owner = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            source.close();
        });
        int status;
        do {
            assertTrue(client.read(landing, 0, remote, 0, LONG_LENGTH, CompletionFlag.ALWAYS, 1));
            status = statusInTime();
        } while (status == WcStatus.SUCCESS);
        owner.join();
        if (status == NONE) {
            assertFalse(TestDevice.isLoopback());
            client.disconnect();
            assertEquals(WcStatus.WR_FLUSH_ERR, status(client));
        } else {
            assertEquals(WcStatus.REM_ACCESS_ERR, status);
        }
    }

    private int statusInTime() {
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < LATE_NS) {
            if (client.completionQueue().poll(completions.records(), 0, 1) == 1) {
                return completions.at(0).status();
            }
            Thread.onSpinWait();
        }
        return NONE;
    }

    private int status(final Connection connection) {
        return completions.awaitOne(connection.completionQueue()).status();
    }

    @Test
    void shouldOfferTimestampsOrNameTheMissingCapability() {
        final VerbsContext context = pair.peer().context();
        assertEquals(either(true, false), DeviceClock.isOfferedBy(context));
        if (!TestDevice.isLoopback()) {
            assertTrue(assertThrows(VerbsException.class, () -> DeviceClock.of(context)).getMessage()
                .contains(DeviceClock.CAPABILITY));
            assertEquals(Errno.EOPNOTSUPP, assertThrows(VerbsException.class,
                () -> VerbsCompletionQueue.createWithTimestamps(context, "orders", 16, null)).errno());
        }
    }

    private static <T> T either(final T onLoopback, final T onSoftRoce) {
        return TestDevice.isLoopback() ? onLoopback : onSoftRoce;
    }
}
