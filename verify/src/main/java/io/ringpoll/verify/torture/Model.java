package io.ringpoll.verify.torture;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultOperation;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Computes the expected end of each work request of a scene and reports deviations.
 *
 * <p>The work requests of a queue must have ended, each once, on the path of its status, in order: with success up to the first
 * that fails, then flushed. The fault plan determines the first failure and its status: by a rule for the request itself, or
 * because its queue pair has failed, for a reason in the plan or in the end of the peer.
 */
final class Model {
    /** The loopback device treats connections within this process as between processes. */
    private static final boolean BETWEEN_PROCESSES = System.getenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE") != null;

    private final Scene scene;
    private final List<EndpointState> endpoints;
    private final List<String> violations = new ArrayList<>();

    Model(final Scene scene, final List<EndpointState> endpoints) {
        this.scene = scene;
        this.endpoints = endpoints;
    }

    /** All deviations, one line each; after everything has ended. */
    List<String> violations() {
        for (final EndpointState endpoint : endpoints) {
            final EndpointState other = endpoints.get(endpoint.number() ^ 1);
            checkEnds("send", endpoint, endpoint.sends(), endpoint.posted(), endpoint.hasLostSends());
            checkEnds("receive", endpoint, endpoint.receives(), endpoint.receivesPosted(), endpoint.hasLostReceives());
            checkSends(endpoint, other);
            checkReceives(endpoint, other);
            checkDeath(endpoint);
        }
        return violations;
    }

    private void checkEnds(final String queue, final EndpointState endpoint, final Ends ends, final int posted,
        final boolean lost) {
        long last = -1;
        for (int i = 0; i < ends.size(); i++) {
            final String what = queue + " " + i + " of endpoint " + endpoint.number();
            expect(ends.count(i) <= 1, what + " ended " + ends.count(i) + " times");
            expect(ends.count(i) == 0 || i < posted, what + " ended but was not posted");
            expect(!scene.topology().observed() || ends.observed(i) == ends.count(i),
                what + " was observed " + ends.observed(i) + " times and ended " + ends.count(i) + " times");
            if (ends.hasEnded(i)) {
                final boolean receives = ends == endpoint.receives();
                final CompletionPath right = ends.status(i) != WcStatus.SUCCESS ? CompletionPath.ERROR :
                    receives ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
                expect(ends.path(i) == right, what + " ended on " + ends.path(i) + " with " + WcStatus.name(ends.status(i)));
                expect(ends.sequence(i) > last, what + " ended before one that was posted earlier");
                last = ends.sequence(i);
            } else {
                expect(lost || i >= posted || mayStaySilent(endpoint, ends, i), what + " has not ended");
            }
        }
    }

    private static boolean mayStaySilent(final EndpointState endpoint, final Ends ends, final int index) {
        return ends == endpoint.sends() && !endpoint.work().isSignalled(index) && index < endpoint.firstFailed();
    }

    private void checkSends(final EndpointState endpoint, final EndpointState other) {
        final int failed = endpoint.firstFailed();
        final Ends ends = endpoint.sends();
        for (int i = 0; i < endpoint.posted(); i++) {
            final String what = "send " + i + " of endpoint " + endpoint.number();
            if (ends.hasEnded(i)) {
                expect(i >= failed || endpoint.work().isSignalled(i), what + " succeeded unsignalled and completed");
                expect(i <= failed || ends.status(i) == WcStatus.WR_FLUSH_ERR && !ends.isInjected(i),
                    what + " behind the failed one ended with " + WcStatus.name(ends.status(i)));
            }
        }
        final int planned = plannedFailure(endpoint);
        expect(endpoint.hasLostSends() || failed <= planned,
            "send " + planned + " of endpoint " + endpoint.number() + " was to fail by the plan; the first that failed is " +
            failed);
        if (failed < endpoint.posted()) {
            checkCause(endpoint, other, failed, planned);
        }
    }

    private void checkCause(final EndpointState endpoint, final EndpointState other, final int failed, final int planned) {
        final int status = endpoint.sends().status(failed);
        final boolean right;
        if (endpoint.sends().isInjected(failed)) {
            right = failed == planned ? status == plannedStatus(endpoint, failed).orElseThrow().code() :
                status == WcStatus.REM_OP_ERR && endpoint.work().kind(failed).isMessage() &&
                    receiveRule(other, messagesBefore(endpoint, failed) + 1).isPresent();
        } else if (status == WcStatus.WR_FLUSH_ERR) {
            right = isBroughtDown(endpoint, other);
        } else {
            right = status == WcStatus.RETRY_EXC_ERR && hasFailed(other, endpoint);
        }
        expect(right, "send " + failed + " of endpoint " + endpoint.number() + " ended with " + WcStatus.name(status) +
            (endpoint.sends().isInjected(failed) ? " (injected)" : "") + ", which nothing explains");
    }

    private void checkReceives(final EndpointState endpoint, final EndpointState other) {
        final Ends ends = endpoint.receives();
        int succeeded = 0;
        while (succeeded < endpoint.receivesPosted() && ends.hasEnded(succeeded) && ends.status(succeeded) == WcStatus.SUCCESS) {
            checkMessage(endpoint, other, succeeded);
            expect(receiveRule(endpoint, succeeded + 1).isEmpty(),
                "receive " + succeeded + " of endpoint " + endpoint.number() + " was to fail by the plan");
            succeeded++;
        }
        for (int i = succeeded; i < endpoint.receivesPosted(); i++) {
            if (ends.hasEnded(i)) {
                final int status = ends.status(i);
                final boolean planned = ends.isInjected(i) && i == succeeded &&
                    receiveRule(endpoint, i + 1).map(rule -> rule.code() == status).orElse(false);
                expect(planned || ends.status(i) == WcStatus.WR_FLUSH_ERR && !ends.isInjected(i),
                    "receive " + i + " of endpoint " + endpoint.number() + " ended with " + WcStatus.name(ends.status(i)));
            }
        }
        final int failed = other.firstFailed();
        final int sent = messagesBefore(other, failed);
        final boolean flushed = failed < other.posted() && other.sends().status(failed) == WcStatus.WR_FLUSH_ERR;
        expect(endpoint.hasLostReceives() || other.hasLostSends() ||
            mayReceive(succeeded, sent, messagesBefore(other, other.posted()), flushed, BETWEEN_PROCESSES),
            "endpoint " + endpoint.number() + " received " + succeeded + " messages of " + sent);
    }

    /**
     * Whether an endpoint may have received so many messages of its peer. Within a process, a request is executed when it is
     * posted. Between processes it may be on its way when its queue pair fails. Then it is flushed, and the other process may
     * have executed it, and some of those behind it.
     *
     * @param received         number of received messages
     * @param sent             number of messages before the first failed work request
     * @param posted           number of all posted messages
     * @param flushed          whether the first failed work request was flushed
     * @param betweenProcesses whether requests are sent to another process
     */
    static boolean mayReceive(
        final int received, final int sent, final int posted, final boolean flushed, final boolean betweenProcesses) {
        return received == sent || betweenProcesses && flushed && received > sent && received <= posted;
    }

    private void checkMessage(final EndpointState endpoint, final EndpointState other, final int message) {
        final int index = indexOfMessage(other.work(), message);
        final String what = "receive " + message + " of endpoint " + endpoint.number();
        if (index >= other.posted()) {
            violations.add(what + " took a message that was not sent");
            return;
        }
        final long identity = other.identity(message);
        final Work.Kind kind = other.work().kind(index);
        final int immediate = kind == Work.Kind.SEND ? 0 : (int) identity;
        expect(endpoint.receives().immediate(message) == immediate, what + " has the immediate data of another message");
        expect(endpoint.receives().lengthBytes(message) == other.work().lengthBytes(index), what + " has another length");
        expect(kind == Work.Kind.WRITE_WITH_IMMEDIATE || endpoint.received(message) == identity, what +
            " has another payload");
    }

    /** A completion queue fails only by the plan. */
    private void checkDeath(final EndpointState endpoint) {
        final boolean planned = scene.plan().isPresent() &&
            scene.plan().get().rules().stream().anyMatch(rule -> rule.kind() == FaultKind.OVERRUN);
        expect(planned || !endpoint.hasLostSends() && !endpoint.hasLostReceives(), "endpoint " + endpoint.number() +
            " has a queue that died");
    }

    /** Whether the queue pair of an endpoint has entered the error state for a reason other than its own requests. */
    private boolean isBroughtDown(final EndpointState endpoint, final EndpointState other) {
        final int refused = other.firstFailed();
        final int status = refused < other.posted() && other.sends().isInjected(refused) ? other.sends().status(refused) : 0;
        return isDisconnected(endpoint) || isDisconnected(other) || hasFailedReceive(endpoint) || endpoint.hasLostSends() ||
            endpoint.hasLostReceives() || status == WcStatus.REM_ACCESS_ERR || status == WcStatus.REM_INV_REQ_ERR ||
            status == WcStatus.REM_OP_ERR || other.hasLostSends();
    }

    private boolean hasFailed(final EndpointState endpoint, final EndpointState other) {
        return endpoint.firstFailed() < endpoint.posted() || isBroughtDown(endpoint, other);
    }

    private static boolean hasFailedReceive(final EndpointState endpoint) {
        for (int i = 0; i < endpoint.receivesPosted(); i++) {
            if (endpoint.receives().hasEnded(i) && endpoint.receives().isInjected(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isDisconnected(final EndpointState endpoint) {
        for (int n = 1; n <= endpoint.posted(); n++) {
            if (trigger(FaultKind.DISCONNECT, FaultOperation.ANY, endpoint, n).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Index of the first work request that fails by the plan, or one past the last. */
    private int plannedFailure(final EndpointState endpoint) {
        for (int i = 0; i < endpoint.posted(); i++) {
            if (plannedStatus(endpoint, i).isPresent()) {
                return i;
            }
        }
        return endpoint.posted();
    }

    private Optional<FaultRule> plannedStatus(final EndpointState endpoint, final int index) {
        final FaultOperation counted = endpoint.work().kind(index).counted();
        int ofThis = 0;
        for (int i = 0; i <= index; i++) {
            ofThis += endpoint.work().kind(i).counted() == counted ? 1 : 0;
        }
        final int n = ofThis;
        return trigger(FaultKind.STATUS, FaultOperation.ANY, endpoint, index + 1)
            .or(() -> trigger(FaultKind.STATUS, counted, endpoint, n));
    }

    private Optional<FaultRule> receiveRule(final EndpointState endpoint, final int n) {
        return trigger(FaultKind.STATUS, FaultOperation.RECEIVE, endpoint, n);
    }

    private Optional<FaultRule> trigger(final FaultKind kind, final FaultOperation operation, final EndpointState endpoint,
        final int n) {
        final Optional<FaultPlan> plan = scene.plan();
        return plan.isEmpty() ? Optional.empty() : plan.get().trigger(kind, operation, endpoint.number() + 1, n);
    }

    private static int messagesBefore(final EndpointState endpoint, final int end) {
        int messages = 0;
        for (int i = 0; i < end; i++) {
            messages += endpoint.work().kind(i).isMessage() ? 1 : 0;
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
