package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionPath;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;

/** Posting and polling threads agree on the number in flight, and no post succeeds before there is room for it. */
@JCStressTest
@Outcome(id = "2, true", expect = Expect.ACCEPTABLE, desc = "room was made in time")
@Outcome(id = "1, false", expect = Expect.ACCEPTABLE, desc = "refused: the completion was polled later")
@State
public class BudgetStress {
    private final CompletionBudget budget = new CompletionBudget(2);

    /** Initial state: full, with one unsignalled request and one signalled. */
    public BudgetStress() {
        budget.reserveSend(false, false);
        budget.reserveSend(true, false);
    }

    /** Posts one more, if there is room. */
    @Actor
    public void poster(final IZ_Result result) {
        result.r2 = budget.reserveReceive(false);
    }

    /** Polls the completion of the signalled request. */
    @Actor
    public void poller() {
        budget.onPolled(CompletionPath.SEND_WRITE);
    }

    /** The final number in flight, and 1. */
    @Arbiter
    public void end(final IZ_Result result) {
        result.r1 = budget.inFlight() + 1;
    }
}
