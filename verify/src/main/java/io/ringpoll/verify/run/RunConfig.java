package io.ringpoll.verify.run;

import io.ringpoll.fault.FaultPlan;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * All that is settled about a run before it starts.
 *
 * @param role          which sides of the job this process is
 * @param seconds       how long to measure after the warm-up, if {@code operations} is 0
 * @param warmUpSeconds how long to wait at most for the hot threads to settle, before the measurement
 * @param operations    how many work requests to post at least, or 0
 * @param mix           shares of the operations
 * @param payloadBytes  length of each message
 * @param connections   number of connections of the steady workload
 * @param depth         work requests in flight on each connection, a power of two
 * @param batchLimit    completions taken from one queue in one round at most
 * @param ringSize      slots of the ring
 * @param chosenWait        how the handlers wait, or null for what the cores suggest
 * @param placement     where the threads run
 * @param address       to listen on and connect to; null until the device has been looked at
 * @param port          likewise
 * @param portIsChosen  whether the user named the port; another free one is taken otherwise
 * @param seed          of all randomness
 * @param soak          whether memory, allocation and latency are sampled all along
 * @param faults        what the loopback device lets go wrong, or null for nothing
 */
public record RunConfig(
    Role role,
    double seconds,
    double warmUpSeconds,
    long operations,
    Mix mix,
    int payloadBytes,
    int connections,
    int depth,
    int batchLimit,
    int ringSize,
    WaitMode chosenWait,
    Placement placement,
    String address,
    int port,
    boolean portIsChosen,
    long seed,
    boolean soak,
    FaultPlan faults) {

    /** Poller, three handlers, and the client that posts. */
    static final int HOT_THREADS = 5;

    /** How the handlers wait: as asked, or as the plan of the CPUs advises, or as their number suggests. */
    WaitMode handlerWait() {
        return chosenWait != null ? chosenWait : placement.handlerWait()
            .orElseGet(() -> WaitMode.forCores(Runtime.getRuntime().availableProcessors(), HOT_THREADS));
    }

    /** What the poller does when nothing has completed, in keeping with the handlers' wait: blocked, it sleeps till an event. */
    IdleStrategy newPollerIdleStrategy() {
        return handlerWait() == WaitMode.BLOCK ? new EventDrivenIdle() : newClientIdleStrategy();
    }

    /** What the client does when it cannot post, in keeping with the handlers' wait. */
    IdleStrategy newClientIdleStrategy() {
        return switch (handlerWait()) {
            case BUSY_SPIN -> NoOpIdleStrategy.INSTANCE;
            case YIELD -> new YieldingIdleStrategy();
            default -> new BackoffIdleStrategy();
        };
    }

    /**
     * The same run at an address.
     *
     * @param other the address
     * @return another configuration
     */
    public RunConfig withAddress(final String other) {
        return new RunConfig(
            role, seconds, warmUpSeconds, operations, mix, payloadBytes, connections, depth, batchLimit, ringSize, chosenWait,
            placement, other, port, portIsChosen, seed, soak, faults);
    }

    /** The same run on another port. */
    RunConfig withPort(final int other) {
        return new RunConfig(
            role, seconds, warmUpSeconds, operations, mix, payloadBytes, connections, depth, batchLimit, ringSize, chosenWait,
            placement, address, other, portIsChosen, seed, soak, faults);
    }
}
