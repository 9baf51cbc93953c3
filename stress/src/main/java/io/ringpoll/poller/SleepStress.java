package io.ringpoll.poller;

import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A poller that goes to sleep while a command comes either sees it before, or is woken. */
@JCStressTest
@Outcome(id = "true, (true|false)", expect = Expect.ACCEPTABLE, desc = "the poller is woken")
@Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "the poller sees the command and does not sleep")
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the poller sleeps on the command")
@State
public class SleepStress {
    private static final Thread POLLING_THREAD = new Thread();

    private final CommandQueue commands = new CommandQueue();
    private volatile boolean sleeping;
    private boolean woken;

    /** Begins as the poller's, which says that it sleeps as the event-driven strategy does. */
    public SleepStress() {
        // Any but the actors': a command of the polling thread itself would be executed at once.
        commands.onStart(POLLING_THREAD);
        commands.wakeUpBy(() -> woken = sleeping);
    }

    /** Submits a command. */
    @Actor
    public void user(final ZZ_Result result) {
        try {
            commands.submit(new PollerCommand(() -> { }), Long.MAX_VALUE);
        } catch (final TimeoutException never) {
            woken = false;
        }
        result.r1 = woken;
    }

    /** Goes to sleep, unless something is due. */
    @Actor
    public void poller(final ZZ_Result result) {
        sleeping = true;
        result.r2 = commands.isWakeUpDue();
    }
}
