package io.ringpoll.internal.poller;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** An event-driven poller that goes to sleep while it is stopped either sees the stop first, or is woken. */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "seen, or woken")
@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "slept through the stop until the bound")
@State
public class StopStress {
    private final SleepingPoller sleeper = new SleepingPoller();

    /** Stops it, at about the time at which it goes to sleep. */
    @Actor
    public void stopper() {
        SleepingPoller.dither();
        sleeper.commands.stop();
    }

    /** Sleeps by the real strategy until it is stopped. */
    @Actor
    public void poller(final Z_Result result) {
        result.r1 = sleeper.sleepUntil(() -> sleeper.commands.phase() == PollerState.STOPPING);
    }
}
