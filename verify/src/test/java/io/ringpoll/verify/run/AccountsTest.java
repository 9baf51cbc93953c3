package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.poller.ScriptedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that the account detects every kind of wrong completion, through a real pipeline. */
@Timeout(60)
class AccountsTest {
    private static final int SLOTS = 8;

    private final Ledger ledger = new Ledger(SLOTS);
    private final Accounts accounts = new Accounts(ledger, false);
    private final ScriptedQueue queue = new ScriptedQueue("scripted");

    private boolean payloadsArrive = true;

    @Test
    void shouldReportNoErrorIfEachCompletionArrivesOnce() {
        final long write = post(0, OperationKind.WRITE);
        final long receive = post(1, OperationKind.RECEIVE);
        final long failing = post(2, OperationKind.FAILING);
        queue.add(write, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        queue.add(receive, WcStatus.SUCCESS, WcOpcode.RECV);
        queue.add(failing, WcStatus.REM_ACCESS_ERR, WcOpcode.RECV);
        final RunReport report = run();
        assertTrue(report.isSound(), report.toJson());
    }

    @Test
    void shouldShowALostCompletion() {
        post(0, OperationKind.WRITE);
        queue.add(post(1, OperationKind.WRITE), WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        final RunReport report = run();
        assertEquals(1, report.lost());
        assertFalse(report.isSound());
    }

    @Test
    void shouldDetectADuplicateCompletion() {
        final long write = post(0, OperationKind.WRITE);
        queue.add(write, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        queue.add(write, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        final RunReport report = run();
        assertEquals(1, report.duplicated());
        assertEquals(0, report.lost());
        assertFalse(report.isSound());
    }

    @Test
    void shouldShowACompletionOfAnEarlierGenerationOfItsSlot() {
        final long first = post(0, OperationKind.WRITE);
        ledger.close(0, first);
        accounts.addPosted(CompletionPath.SEND_WRITE, -1);
        queue.add(post(0, OperationKind.WRITE), WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        queue.add(first, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        assertEquals(1, run().duplicated());
    }

    @Test
    void shouldShowAFailedCompletionThatWasPublishedAsSuccess() {
        queue.add(post(0, OperationKind.FAILING), WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        final RunReport report = run();
        assertEquals(1, report.lost());
        assertEquals(1, report.complaints().size());
    }

    @Test
    void shouldShowASuccessThatWasPublishedAsFailure() {
        queue.add(post(0, OperationKind.WRITE), WcStatus.WR_FLUSH_ERR, WcOpcode.RDMA_WRITE);
        final RunReport report = run();
        assertEquals(1, report.lost());
        assertTrue(report.complaints().getFirst().contains("IBV_WC_WR_FLUSH_ERR"), report.complaints().toString());
    }

    @Test
    void shouldDetectACorruptedPayload() {
        payloadsArrive = false;
        queue.add(post(0, OperationKind.READ), WcStatus.SUCCESS, WcOpcode.RDMA_READ);
        final RunReport report = run();
        assertEquals(1, report.corrupted());
        assertFalse(report.isSound());
    }

    @Test
    void shouldShowAnOverwrittenSlot() {
        // Two completions; the second one has overwritten the first.
        post(0, OperationKind.WRITE);
        final long second = post(1, OperationKind.WRITE);
        queue.add(second, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        queue.add(second, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        final RunReport report = run();
        assertEquals(1, report.lost());
        assertEquals(1, report.duplicated());
    }

    private long post(final int slot, final OperationKind kind) {
        ledger.setOwner(slot, 1, new SlotOwner() {
            @Override
            public boolean onCompleted(final int completed, final WorkCompletion completion) {
                return payloadsArrive;
            }
        });
        accounts.addPosted(kind.path(), 1);
        return ledger.open(slot, kind, 0, 0);
    }

    private RunReport run() {
        final int scripted = queue.size();
        try (Pipeline pipeline = Pipeline.builder()
                .onSendWrite(accounts.handler(CompletionPath.SEND_WRITE))
                .onReceive(accounts.handler(CompletionPath.RECEIVE))
                .onError(accounts.handler(CompletionPath.ERROR))
                .queue(queue)
                .start()) {
            while (pipeline.pollerCounters().completions() < scripted) {
                Thread.yield();
            }
            assertTrue(pipeline.close(TimeUnit.SECONDS.toNanos(50)).inTime());
        }
        return new RunReport(
            "scripted", 1, accounts.paths(), accounts.corrupted(), 1, accounts.latencyNs(),
            new RunReport.Allocation(0, 0, 1, true), accounts.complaints(), accounts.notes(), null, null);
    }
}
