package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/** A thread that posts sends and one that posts receives never both succeed if there is room for one, nor both fail. */
@JCStressTest
@Outcome(id = {"true, false, 1", "false, true, 1"}, expect = Expect.ACCEPTABLE, desc = "one of them has the last place")
@State
public class BudgetOfTwoStress {
    private final CompletionBudget budget = new CompletionBudget(1);

    /** Initial state: nothing in flight. */
    public BudgetOfTwoStress() {
    }

    /** Posts a send. */
    @Actor
    public void sender(final ZZI_Result result) {
        result.r1 = budget.reserveSend(true, true);
    }

    /** Posts a receive. */
    @Actor
    public void receiver(final ZZI_Result result) {
        result.r2 = budget.reserveReceive(true);
    }

    /** The final number in flight. */
    @Arbiter
    public void end(final ZZI_Result result) {
        result.r3 = budget.inFlight();
    }
}
