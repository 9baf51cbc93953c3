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
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** A parking handler that is stopped while a last slot is published sees both, and does not park again. */
@JCStressTest
@Outcome(id = "true, (true|false), true", expect = Expect.ACCEPTABLE, desc = "stopped, whether it has seen the last slot or not")
@Outcome(id = ".*, .*, false", expect = Expect.FORBIDDEN, desc = "a wake-up was lost")
@Outcome(id = "false, .*", expect = Expect.FORBIDDEN, desc = "the stop was lost")
@State
public class AlertStress {
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final ParkingWaitStrategy wait = new ParkingWaitStrategy();
    private final HandlerBarrier barrier = new HandlerBarrier(cursor, cursor, wait);
    private volatile boolean stopping;

    /** Waits like a processor, until it is stopped. */
    @Actor
    public void handler(final ZZZ_Result result) {
        final long startNs = System.nanoTime();
        boolean seen = false;
        while (!stopping && Patience.isKept(startNs)) {
            try {
                seen |= barrier.waitFor(seen ? 1 : 0) >= 0;
            } catch (final AlertException woken) {
                barrier.clearAlert();
            } catch (final InterruptedException | TimeoutException never) {
                throw new IllegalStateException(never);
            }
        }
        result.r1 = stopping;
        result.r2 = seen;
        result.r3 = Patience.isKept(startNs);
    }

    /** Publishes a slot, then stops the handler in the order of {@link CompletionProcessor#stopAfter}. */
    @Actor
    public void poller() {
        Patience.dither();
        cursor.set(0);
        wait.signalAllWhenBlocking();
        stopping = true;
        barrier.alert();
    }
}
