package io.ringpoll.verify.torture;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * What a scene is built of, drawn from its seed.
 *
 * @param connections     between the two peers
 * @param pollers         each with a ring and handlers of its own
 * @param observed        whether another handler sees all completions, beside those of the paths
 * @param staged          whether a stage follows the handler of the send/write path
 * @param slowHandlers    one in so many completions is handled slowly; 0 for none
 * @param throwingHandlers one in so many completions has its handler throw; 0 for none
 * @param ringSize        slots of each ring
 * @param batchLimit      completions taken from one queue at once, at most
 * @param idle            what pollers do when they find nothing
 * @param handlerWait     how handlers wait
 * @param queueDepth      of send and receive queues
 * @param receiveQueues   whether receives complete in queues of their own
 * @param sharedChannels  whether the queues of a connection share a completion channel
 * @param maxPayloadBytes longest message
 * @param operations      of each side of a connection
 * @param disturbed       whether pollers pause and queues leave and come back meanwhile
 */
record Topology(
    int connections, int pollers, boolean observed, boolean staged, int slowHandlers, int throwingHandlers, int ringSize,
    int batchLimit, Idle idle, WaitMode handlerWait, int queueDepth, boolean receiveQueues, boolean sharedChannels,
    int maxPayloadBytes, int operations, boolean disturbed) {

    private static final int MAX_CONNECTIONS = 4;
    private static final int MAX_RING_BITS = 9;
    private static final int MAX_DEPTH_BITS = 6;
    private static final int MAX_OPERATIONS = 300;
    private static final WaitMode[] WAITS = {WaitMode.YIELD, WaitMode.SLEEP, WaitMode.BLOCK};

    /** An idle strategy by name, so that a scene can be printed. */
    enum Idle {
        SPIN, YIELD, BACKOFF, EVENT_DRIVEN;

        IdleStrategy newStrategy() {
            return switch (this) {
                case SPIN -> new BusySpinIdleStrategy();
                case YIELD -> new YieldingIdleStrategy();
                case BACKOFF -> new BackoffIdleStrategy();
                case EVENT_DRIVEN -> new EventDrivenIdle(TimeUnit.MICROSECONDS.toNanos(20), EventDrivenIdle.DEFAULT_MAX_SLEEP_NS);
            };
        }
    }

    static Topology draw(final SplittableRandom random) {
        final int ringSize = 2 << random.nextInt(MAX_RING_BITS);
        return new Topology(
            1 + random.nextInt(MAX_CONNECTIONS), 1 + random.nextInt(2), random.nextInt(3) == 0, random.nextInt(3) == 0,
            oneIn(random, 3, 40), oneIn(random, 4, 50), ringSize, 1 + random.nextInt(Math.min(ringSize, 64)),
            Idle.values()[random.nextInt(Idle.values().length)], WAITS[random.nextInt(WAITS.length)],
            2 << random.nextInt(MAX_DEPTH_BITS), random.nextBoolean(), random.nextInt(3) == 0,
            Work.MIN_PAYLOAD_BYTES << random.nextInt(9), 1 + random.nextInt(MAX_OPERATIONS), random.nextInt(3) == 0);
    }

    /** 0 in so many cases but one, else from 1 to the most. */
    private static int oneIn(final SplittableRandom random, final int cases, final int most) {
        return random.nextInt(cases) == 0 ? 1 + random.nextInt(most) : 0;
    }
}
