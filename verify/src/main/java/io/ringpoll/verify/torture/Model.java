package io.ringpoll.verify.torture;

import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultOperation;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Knows what each work request of a scene must have ended as, and says what did not.
 *
 * <p>The work requests of a queue must have ended, each once, on the path of its status, in order: with success up to the first
 * that fails, then flushed. Which one fails first, and how, follows from the fault plan: by a rule of its own, or as something
 * has brought its queue pair down, which must be found in the plan or in how the other side ended.
 */
final class Model {
    private final Scene scene;
    private final List<Half> halves;
    private final List<String> violations = new ArrayList<>();

    Model(final Scene scene, final List<Half> halves) {
        this.scene = scene;
        this.halves = halves;
    }

    /** All that is wrong, a line each; once everything has ended. */
    List<String> violations() {
        for (final Half half : halves) {
            final Half other = halves.get(half.number() ^ 1);
            checkEnds("send", half, half.sends(), half.posted(), half.hasLostSends());
            checkEnds("receive", half, half.receives(), half.receivesPosted(), half.hasLostReceives());
            checkSends(half, other);
            checkReceives(half, other);
            checkDeath(half);
        }
        return violations;
    }

    private void checkEnds(final String queue, final Half half, final Ends ends, final int posted, final boolean lost) {
        long last = -1;
        for (int i = 0; i < ends.size(); i++) {
            final String what = queue + " " + i + " of half " + half.number();
            expect(ends.count(i) <= 1, what + " ended " + ends.count(i) + " times");
            expect(ends.count(i) == 0 || i < posted, what + " ended but was not posted");
            expect(!scene.topology().observed() || ends.observed(i) == ends.count(i),
                what + " was observed " + ends.observed(i) + " times and ended " + ends.count(i) + " times");
            if (ends.hasEnded(i)) {
                final boolean receives = ends == half.receives();
                final CompletionPath right = ends.status(i) != WcStatus.SUCCESS ? CompletionPath.ERROR :
                    receives ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
                expect(ends.path(i) == right, what + " ended on " + ends.path(i) + " with " + WcStatus.name(ends.status(i)));
                expect(ends.sequence(i) > last, what + " ended before one that was posted earlier");
                last = ends.sequence(i);
            } else {
                expect(lost || i >= posted || mayStaySilent(half, ends, i), what + " has not ended");
            }
        }
    }

    private static boolean mayStaySilent(final Half half, final Ends ends, final int index) {
        return ends == half.sends() && !half.work().isSignalled(index) && index < half.firstFailed();
    }

    private void checkSends(final Half half, final Half other) {
        final int failed = half.firstFailed();
        final Ends ends = half.sends();
        for (int i = 0; i < half.posted(); i++) {
            final String what = "send " + i + " of half " + half.number();
            if (ends.hasEnded(i)) {
                expect(i >= failed || half.work().isSignalled(i), what + " succeeded unsignalled and completed");
                expect(i <= failed || ends.status(i) == WcStatus.WR_FLUSH_ERR && !ends.isInjected(i),
                    what + " behind the failed one ended with " + WcStatus.name(ends.status(i)));
            }
        }
        final int planned = plannedFailure(half);
        expect(half.hasLostSends() || failed <= planned,
            "send " + planned + " of half " + half.number() + " was to fail by the plan; the first that failed is " + failed);
        if (failed < half.posted()) {
            checkCause(half, other, failed, planned);
        }
    }

    private void checkCause(final Half half, final Half other, final int failed, final int planned) {
        final int status = half.sends().status(failed);
        final boolean right;
        if (half.sends().isInjected(failed)) {
            right = failed == planned ? status == plannedStatus(half, failed).orElseThrow().code() :
                status == WcStatus.REM_OP_ERR && half.work().kind(failed).isMessage() &&
                    receiveRule(other, messagesBefore(half, failed) + 1).isPresent();
        } else if (status == WcStatus.WR_FLUSH_ERR) {
            right = isBroughtDown(half, other);
        } else {
            right = status == WcStatus.RETRY_EXC_ERR && hasFailed(other, half);
        }
        expect(right, "send " + failed + " of half " + half.number() + " ended with " + WcStatus.name(status) +
            (half.sends().isInjected(failed) ? " (injected)" : "") + ", which nothing explains");
    }

    private void checkReceives(final Half half, final Half other) {
        final Ends ends = half.receives();
        int succeeded = 0;
        while (succeeded < half.receivesPosted() && ends.hasEnded(succeeded) && ends.status(succeeded) == WcStatus.SUCCESS) {
            checkMessage(half, other, succeeded);
            expect(receiveRule(half, succeeded + 1).isEmpty(),
                "receive " + succeeded + " of half " + half.number() + " was to fail by the plan");
            succeeded++;
        }
        for (int i = succeeded; i < half.receivesPosted(); i++) {
            if (ends.hasEnded(i)) {
                final int status = ends.status(i);
                final boolean planned = ends.isInjected(i) && i == succeeded &&
                    receiveRule(half, i + 1).map(rule -> rule.code() == status).orElse(false);
                expect(planned || ends.status(i) == WcStatus.WR_FLUSH_ERR && !ends.isInjected(i),
                    "receive " + i + " of half " + half.number() + " ended with " + WcStatus.name(ends.status(i)));
            }
        }
        final int sent = messagesBefore(other, other.firstFailed());
        expect(half.hasLostReceives() || other.hasLostSends() || succeeded == sent,
            "half " + half.number() + " received " + succeeded + " messages of " + sent);
    }

    private void checkMessage(final Half half, final Half other, final int message) {
        final int index = indexOfMessage(other.work(), message);
        final String what = "receive " + message + " of half " + half.number();
        if (index >= other.posted()) {
            violations.add(what + " took a message that was not sent");
            return;
        }
        final long identity = other.identity(message);
        final Work.Kind kind = other.work().kind(index);
        final int immediate = kind == Work.Kind.SEND ? 0 : (int) identity;
        expect(half.receives().immediate(message) == immediate, what + " brought another message's immediate data");
        expect(half.receives().lengthBytes(message) == other.work().lengthBytes(index), what + " brought another length");
        expect(kind == Work.Kind.WRITE_WITH_IMMEDIATE || half.received(message) == identity, what + " brought another payload");
    }

    /** A completion queue dies only of the plan. */
    private void checkDeath(final Half half) {
        final boolean planned = scene.plan().isPresent() &&
            scene.plan().get().rules().stream().anyMatch(rule -> rule.kind() == FaultKind.OVERRUN);
        expect(planned || !half.hasLostSends() && !half.hasLostReceives(), "half " + half.number() + " has a queue that died");
    }

    /** Whether something other than its own requests has brought the queue pair of a half into the error state. */
    private boolean isBroughtDown(final Half half, final Half other) {
        final int refused = other.firstFailed();
        final int status = refused < other.posted() && other.sends().isInjected(refused) ? other.sends().status(refused) : 0;
        return isDisconnected(half) || isDisconnected(other) || hasFailedReceive(half) || half.hasLostSends() ||
            half.hasLostReceives() || status == WcStatus.REM_ACCESS_ERR || status == WcStatus.REM_INV_REQ_ERR ||
            status == WcStatus.REM_OP_ERR || other.hasLostSends();
    }

    private boolean hasFailed(final Half half, final Half other) {
        return half.firstFailed() < half.posted() || isBroughtDown(half, other);
    }

    private static boolean hasFailedReceive(final Half half) {
        for (int i = 0; i < half.receivesPosted(); i++) {
            if (half.receives().hasEnded(i) && half.receives().isInjected(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isDisconnected(final Half half) {
        for (int n = 1; n <= half.posted(); n++) {
            if (strike(FaultKind.DISCONNECT, FaultOperation.ANY, half, n).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Index of the first that the plan lets fail, or one past the last. */
    private int plannedFailure(final Half half) {
        for (int i = 0; i < half.posted(); i++) {
            if (plannedStatus(half, i).isPresent()) {
                return i;
            }
        }
        return half.posted();
    }

    private Optional<FaultRule> plannedStatus(final Half half, final int index) {
        final FaultOperation counted = half.work().kind(index).counted();
        int ofThis = 0;
        for (int i = 0; i <= index; i++) {
            ofThis += half.work().kind(i).counted() == counted ? 1 : 0;
        }
        final int n = ofThis;
        return strike(FaultKind.STATUS, FaultOperation.ANY, half, index + 1)
            .or(() -> strike(FaultKind.STATUS, counted, half, n));
    }

    private Optional<FaultRule> receiveRule(final Half half, final int n) {
        return strike(FaultKind.STATUS, FaultOperation.RECEIVE, half, n);
    }

    private Optional<FaultRule> strike(final FaultKind kind, final FaultOperation operation, final Half half, final int n) {
        final Optional<FaultPlan> plan = scene.plan();
        return plan.isEmpty() ? Optional.empty() : plan.get().strike(kind, operation, half.number() + 1, n);
    }

    private static int messagesBefore(final Half half, final int end) {
        int messages = 0;
        for (int i = 0; i < end; i++) {
            messages += half.work().kind(i).isMessage() ? 1 : 0;
        }
        return messages;
    }

    private static int indexOfMessage(final Work work, final int message) {
        int left = message;
        int index = 0;
        while (index < work.size() && !(work.kind(index).isMessage() && left-- == 0)) {
            index++;
        }
        return index;
    }

    private void expect(final boolean holds, final String otherwise) {
        if (!holds) {
            violations.add(otherwise);
        }
    }
}
