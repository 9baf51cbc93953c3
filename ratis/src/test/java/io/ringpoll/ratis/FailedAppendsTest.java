package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.transport.MessageTooLongException;
import io.ringpoll.internal.transport.Warnings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The warnings of an appender whose requests fail although the follower is connected. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FailedAppendsTest extends LogAppenderFixture {
    private static final String FAILED = "entries or a snapshot have failed: ";
    private static final String AGAIN = "the follower accepts requests again, after ";

    FailedAppendsTest() {
        super(1);
    }

    @Test
    void shouldLogEntriesThatTheFollowerDoesNotStore() throws Exception {
        follow();
        try (Warnings warnings = new Warnings(FailedAppends.class)) {
            append();
            for (int i = 0; i < 3; i++) {
                next().reply().completeExceptionally(new TimeoutException("no reply from s1"));
            }
            final Sent fourth = next();
            assertEquals(2, warnings.times(FAILED + "java.util.concurrent.TimeoutException: no reply from s1 ("));
            assertTrue(warnings.contains("(2 failed requests)"));
            assertFalse(warnings.contains(AGAIN));
            fourth.answer(AppendResult.SUCCESS);
            warnings.await(AGAIN + "3 failed ones");
            append();
            next().answer(AppendResult.SUCCESS);
            assertEquals(1, warnings.times(AGAIN));
        }
    }

    /** Two replies at the same time. */
    @Test
    void shouldLogTheEndOnce() throws Exception {
        final FailedAppends failed = new FailedAppends("appender");
        final List<Thread> replies = new ArrayList<>();
        try (Warnings warnings = new Warnings(FailedAppends.class)) {
            failed.onFailure(false, new IOException("no space"));
            synchronized (failed) {
                for (int i = 0; i < 2; i++) {
                    replies.add(Thread.ofPlatform().daemon().start(() -> failed.onSuccess(false)));
                }
                while (replies.stream().anyMatch(reply -> reply.getState() != Thread.State.BLOCKED)) {
                    Thread.onSpinWait();
                }
            }
            for (final Thread reply : replies) {
                reply.join();
            }
            assertEquals(1, warnings.times(AGAIN));
        }
    }

    /** The transport logs the former; the latter is a property of the entry. */
    @Test
    void shouldNotLogALostConnectionOrATooLongEntry() throws Exception {
        follow();
        try (Warnings warnings = new Warnings(FailedAppends.class)) {
            append();
            next().reply().completeExceptionally(new MessageTooLongException("too long", 10));
            final Sent second = next();
            connected = false;
            second.reply().completeExceptionally(new IOException("the connection is CLOSED"));
            final Sent third = next();
            connected = true;
            third.reply().completeExceptionally(new IOException("no space"));
            next().answer(AppendResult.SUCCESS);
            warnings.await(AGAIN + "1 failed ones");
            assertEquals(1, warnings.times(FAILED));
            assertTrue(warnings.contains(FAILED + "java.io.IOException: no space (1 failed requests)"));
        }
    }

    @Test
    void shouldLogASnapshotThatTheFollowerDoesNotInstallAtFirst() throws Exception {
        try (Warnings warnings = new Warnings(FailedAppends.class)) {
            announceSnapshots();
            when(rpc.installSnapshot(any())).thenThrow(new IOException("no space")).thenReturn(
                InstallSnapshotReplyProto.newBuilder().setResult(InstallSnapshotResult.SUCCESS).build());
            logEnd.set(4);
            appender.start();
            warnings.await(FAILED + "java.io.IOException: no space (1 failed requests)");
            warnings.await(AGAIN + "1 failed ones");
        }
    }

    /** The engine of a follower that cannot write its log answers heartbeats nevertheless. */
    @Test
    void shouldNotTakeAHeartbeatForASuccessAfterEntriesThatFail() throws Exception {
        final FailedAppends failed = new FailedAppends("s0->s1");
        try (Warnings warnings = new Warnings(FailedAppends.class)) {
            failed.onSuccess(true);
            failed.onSuccess(false);
            failed.onFailure(true, new IOException("first"));
            failed.onSuccess(true);
            assertEquals(1, warnings.times("s0->s1: a heartbeat has failed: java.io.IOException: first (1 failed requests)"));
            assertEquals(1, warnings.times(AGAIN));
            failed.onFailure(false, new IOException("second"));
            failed.onSuccess(true);
            assertEquals(1, warnings.times(AGAIN));
            failed.onSuccess(false);
            assertEquals(2, warnings.times(AGAIN));
        }
    }
}
