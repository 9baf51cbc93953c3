package io.ringpoll.internal.poller;

import io.ringpoll.internal.os.Deadline;
import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * An event-driven poller that goes to sleep while a command is submitted either sees it first, or is woken: its sleep has no
 * bound.
 */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "seen, or woken")
@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "slept on the command until the bound")
@State
public class SleepStress {
    private final SleepingPoller sleeper = new SleepingPoller();

    /** Submits a command, at about the time at which the poller goes to sleep. */
    @Actor
    public void user() {
        SleepingPoller.dither();
        try {
            sleeper.commands.submit(new PollerCommand(() -> { }), Deadline.after(Long.MAX_VALUE));
        } catch (final TimeoutException never) {
            throw new IllegalStateException(never);
        }
    }

    /** Sleeps by the real strategy until the command is there. */
    @Actor
    public void poller(final Z_Result result) {
        result.r1 = sleeper.sleepUntil(sleeper.commands::hasPending);
    }
}
