package io.ringpoll.verify.run;

import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import org.agrona.concurrent.IdleStrategy;

/**
 * The settings of a run.
 *
 * @param api           the binding that makes the connections
 * @param role          sides of the job in this process
 * @param seconds       measured time after the warm-up, if {@code operations} is 0
 * @param warmUpSeconds maximum time for the hot threads to settle, before the measurement
 * @param operations    minimum number of work requests to post, or 0
 * @param mix           shares of the operations
 * @param payloadBytes  length of each message
 * @param connections   number of connections of the steady workload
 * @param depth         work requests in flight on each connection, a power of two
 * @param batchLimit    maximum completions per poll of one queue
 * @param ringSize      slots of the ring
 * @param chosenWait    wait strategy of the handlers, or null for the default
 * @param pinning       CPUs of the threads
 * @param address       address to listen on and connect to; null until the device has been opened
 * @param port          port to listen on and connect to
 * @param portIsChosen  whether the user set the port; otherwise any free one is used
 * @param seed          seed of all random choices
 * @param soak          whether memory, allocation and latency are sampled during the run
 * @param faults        fault plan of the loopback device, or null for none
 */
public record RunConfig(
    RdmaApi api,
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
    RunPinning pinning,
    String address,
    int port,
    boolean portIsChosen,
    long seed,
    boolean soak,
    FaultPlan faults) {

    /** Poller, three handlers, and the posting client. */
    static final int HOT_THREADS = 5;

    /** The wait strategy of the handlers: the requested one, else that of the CPU plan, else one by the number of CPUs. */
    WaitMode handlerWait() {
        return chosenWait != null ? chosenWait : pinning.handlerWait()
            .orElseGet(() -> WaitMode.forCores(Runtime.getRuntime().availableProcessors(), HOT_THREADS));
    }

    /** The idle strategy of the client that matches the wait of the handlers; the client has no events to block for. */
    IdleStrategy newClientIdleStrategy() {
        final WaitMode wait = handlerWait();
        return (wait == WaitMode.BLOCK ? WaitMode.SLEEP : wait).newIdleStrategy();
    }

    /**
     * The same run at an address.
     *
     * @param other the address
     * @return another configuration
     */
    public RunConfig withAddress(final String other) {
        return new RunConfig(
            api, role, seconds, warmUpSeconds, operations, mix, payloadBytes, connections, depth, batchLimit, ringSize,
            chosenWait, pinning, other, port, portIsChosen, seed, soak, faults);
    }

    /** The same run on another port. */
    RunConfig withPort(final int other) {
        return new RunConfig(
            api, role, seconds, warmUpSeconds, operations, mix, payloadBytes, connections, depth, batchLimit, ringSize,
            chosenWait, pinning, address, other, portIsChosen, seed, soak, faults);
    }
}
