package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZ_Result;

/** A handler that parks while a slot is published is woken by it, not by the bound of its park. */
@JCStressTest
@Outcome(id = "0, true", expect = Expect.ACCEPTABLE, desc = "seen, or woken")
@Outcome(id = ".*, false", expect = Expect.FORBIDDEN, desc = "the wake-up was lost")
@State
public class ParkingWaitStress {
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final ParkingWaitStrategy wait = new ParkingWaitStrategy();
    private final HandlerBarrier barrier = new HandlerBarrier(cursor, cursor, wait);

    /** Waits for the first slot. */
    @Actor
    public void handler(final JZ_Result result) {
        final long startNs = System.nanoTime();
        try {
            result.r1 = barrier.waitFor(0);
        } catch (final AlertException | InterruptedException | TimeoutException never) {
            result.r1 = -1;
        }
        result.r2 = Patience.isKept(startNs);
    }

    /** Publishes it, at about the time at which the handler parks. */
    @Actor
    public void poller() {
        Patience.dither();
        cursor.set(0);
        wait.signalAllWhenBlocking();
    }
}
