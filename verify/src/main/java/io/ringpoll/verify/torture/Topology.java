package io.ringpoll.verify.torture;

import io.ringpoll.pipeline.WaitMode;
import java.util.SplittableRandom;

/**
 * The topology of a scene, drawn from its seed.
 *
 * @param connections      number of connections between the two peers
 * @param pollers          number of pollers, each with its own ring and handlers
 * @param observed         whether another handler observes all completions, in addition to those of the paths
 * @param staged           whether a stage follows the handler of the send/write path
 * @param slowHandlers     one in so many completions is handled slowly; 0 for none
 * @param throwingHandlers the handler throws for one in so many completions; 0 for none
 * @param ringSize         slots of each ring
 * @param batchLimit       maximum completions per poll of one queue
 * @param idle             wait of the pollers
 * @param handlerWait      wait of the handlers
 * @param queueDepth       size of send and receive queues
 * @param receiveQueues    whether receives have separate completion queues
 * @param sharedChannels   whether the queues of a connection share a completion channel
 * @param maxPayloadBytes  longest message
 * @param operations       number of operations of each side of a connection
 * @param disturbed        whether pollers pause and queues are removed and added again during the scene
 */
record Topology(
    int connections, int pollers, boolean observed, boolean staged, int slowHandlers, int throwingHandlers, int ringSize,
    int batchLimit, WaitMode idle, WaitMode handlerWait, int queueDepth, boolean receiveQueues, boolean sharedChannels,
    int maxPayloadBytes, int operations, boolean disturbed) {

    private static final int MAX_CONNECTIONS = 4;
    private static final int MAX_RING_BITS = 9;
    private static final int MAX_DEPTH_BITS = 6;
    private static final int MAX_OPERATIONS = 300;
    private static final WaitMode[] ALL_WAITS = WaitMode.values();
    private static final WaitMode[] HANDLER_WAITS = {WaitMode.YIELD, WaitMode.SLEEP, WaitMode.BLOCK};

    static Topology draw(final SplittableRandom random) {
        final int ringSize = 2 << random.nextInt(MAX_RING_BITS);
        return new Topology(
            1 + random.nextInt(MAX_CONNECTIONS), 1 + random.nextInt(2), random.nextInt(3) == 0, random.nextInt(3) == 0,
            oneIn(random, 3, 40), oneIn(random, 4, 50), ringSize, 1 + random.nextInt(Math.min(ringSize, 64)),
            ALL_WAITS[random.nextInt(ALL_WAITS.length)], HANDLER_WAITS[random.nextInt(HANDLER_WAITS.length)],
            2 << random.nextInt(MAX_DEPTH_BITS), random.nextBoolean(), random.nextInt(3) == 0,
            Work.MIN_PAYLOAD_BYTES << random.nextInt(9), 1 + random.nextInt(MAX_OPERATIONS), random.nextInt(3) == 0);
    }

    /** 0 in all but one of so many cases, else from 1 to the maximum. */
    private static int oneIn(final SplittableRandom random, final int cases, final int most) {
        return random.nextInt(cases) == 0 ? 1 + random.nextInt(most) : 0;
    }
}
