package io.ringpoll.internal.poller;

import io.ringpoll.internal.os.Deadline;
import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;

/** Commands are executed once, in the order of their thread, and their effects are visible to a thread that sees them done. */
@JCStressTest
@Outcome(id = "12, true", expect = Expect.ACCEPTABLE, desc = "both, in order")
@State
public class CommandStress {
    private static final Thread POLLING_THREAD = new Thread();

    private final CommandQueue commands = new CommandQueue();
    private int log;
    private boolean seen = true;

    /** Called on the poller thread. */
    public CommandStress() {
        // Any thread except the actors: a command of the polling thread itself would be executed immediately.
        commands.onStart(POLLING_THREAD);
    }

    /** Submits two commands. */
    @Actor
    public void user() {
        final PollerCommand first = new PollerCommand(() -> log = 10 * log + 1);
        final PollerCommand second = new PollerCommand(() -> log = 10 * log + 2);
        try {
            commands.submit(first, Deadline.after(Long.MAX_VALUE));
            commands.submit(second, Deadline.after(Long.MAX_VALUE));
        } catch (final TimeoutException never) {
            log = -1;
        }
        if (second.isDone()) {
            seen = log == 12;
        }
    }

    /** Executes the pending commands. */
    @Actor
    public void poller() {
        commands.executePending();
        commands.executePending();
    }

    /** Executes the remaining commands. */
    @Arbiter
    public void end(final IZ_Result result) {
        commands.executePending();
        result.r1 = log;
        result.r2 = seen;
    }
}
