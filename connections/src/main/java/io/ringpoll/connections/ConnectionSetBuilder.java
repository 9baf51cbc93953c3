package io.ringpoll.connections;

import io.ringpoll.device.Device;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.internal.rc.VerbsObjects;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.rpma.Peer;
import io.ringpoll.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.agrona.ErrorHandler;

/**
 * Describes a {@link ConnectionSet}. Only a listener is required.
 *
 * <p>Confined to the thread that builds the set. {@link #start()} reports all errors of the description.
 */
public final class ConnectionSetBuilder {
    private static final long MAX_MEMORY_BYTES = Integer.MAX_VALUE;
    private static final int MAX_POLLERS = 1024;
    private static final int MAX_OPERATIONS = 1 << 15;

    String name = "connections";
    String address;
    Peer peer;
    ProtectionDomain domain;
    private boolean verbs;
    boolean sharedQueues;
    ConnectionListener listener;
    int messagesInFlight = 64;
    int maxMessageBytes = 4096;
    int minMessageBytes = 1;
    int operationsInFlight;
    int maxConnections = 1024;
    int pollers = 1;
    boolean asAgent;
    IntFunction<PipelineBuilder> pipelines;
    byte[] privateData = {};
    long connectTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    long acceptTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    long keepaliveNs = TimeUnit.SECONDS.toNanos(10);
    long idleTimeoutNs;
    long shutdownTimeoutNs;
    AcceptFilter acceptFilter;
    ErrorHandler errorHandler;
    /** Makes the threads of a set that do not poll, by their names; tests replace it. */
    Function<String, ThreadFactory> threads = threadName -> Thread.ofPlatform().daemon().name(threadName).factory();
    private boolean started;

    ConnectionSetBuilder() {
    }

    /**
     * Names the set and its threads; the default is {@code connections}.
     *
     * @param setName unique in the process, to distinguish the counters
     * @return this
     */
    public ConnectionSetBuilder name(final String setName) {
        name = setName;
        return this;
    }

    /**
     * Sets the address of this machine that selects the device; the default is that of {@link Device#address()}.
     *
     * @param localAddress an IPv4 or IPv6 address or a name
     * @return this
     */
    public ConnectionSetBuilder address(final String localAddress) {
        address = localAddress;
        return this;
    }

    /**
     * Sets the device instead of an address.
     *
     * @param device to be closed by the caller, after the set
     * @return this
     */
    public ConnectionSetBuilder peer(final Peer device) {
        peer = device;
        return this;
    }

    /**
     * Makes the connections with librdmacm and libibverbs ({@code io.ringpoll.verbs}) instead of librpma, which is not loaded
     * then. The two ends of a connection need not use the same.
     *
     * @return this
     */
    public ConnectionSetBuilder overVerbs() {
        verbs = true;
        return this;
    }

    /**
     * Makes all connections of a polling thread share a completion queue, over verbs only; by default each has its own. The
     * thread then polls one queue instead of one for each connection: with many connections of which few have messages, a message
     * waits for no empty polls, and the device keeps one queue. With few connections it costs a look-up for each message. A queue
     * is created for each polling thread at the start, with room for the requests of {@link #maxConnections} connections, about
     * {@code 3 * messagesInFlight + operationsInFlight} for each: set that maximum.
     *
     * <p>A failure that a poll of the queue or an event of the device ({@code IBV_EVENT_CQ_ERR}) reports ends all its
     * connections, and the thread gets no others. After the end of a connection the polling thread looks at the queue once more,
     * also while its pipeline is paused, and delivers the messages of others that it finds; only then the place is free, and a
     * connect that was not established fails.
     *
     * @return this
     * @see #overVerbs()
     */
    public ConnectionSetBuilder sharedCompletionQueue() {
        sharedQueues = true;
        return this;
    }

    /**
     * Sets the protection domain of the connections, which are made as with {@link #overVerbs()}.
     *
     * @param protectionDomain to be closed by the caller, after the set
     * @return this
     */
    public ConnectionSetBuilder domain(final ProtectionDomain protectionDomain) {
        domain = protectionDomain;
        return this;
    }

    /**
     * Sets the listener of all connections.
     *
     * @param callbacks called on the polling threads
     * @return this
     */
    public ConnectionSetBuilder listener(final ConnectionListener callbacks) {
        listener = callbacks;
        return this;
    }

    /**
     * Sets the window of each connection: the number of messages that may be in flight in each direction. The sizes of the queues
     * and the number of buffers are derived from it. The default is 64.
     *
     * @param messages 1 to 32,768, within the limits of the device; the lesser value of both sides is used
     * @return this
     */
    public ConnectionSetBuilder messagesInFlight(final int messages) {
        messagesInFlight = messages;
        return this;
    }

    /**
     * Sets the maximum length of a message; the default is 4,096.
     *
     * @param bytes at least 1; the lesser value of both sides is used
     * @return this
     */
    public ConnectionSetBuilder maxMessageBytes(final int bytes) {
        maxMessageBytes = bytes;
        return this;
    }

    /**
     * Sets the least maximum length of a message that a peer must have; the default is 1. Requests of others are rejected, and
     * connections to them are not established.
     *
     * @param bytes 1 to {@link #maxMessageBytes}
     * @return this
     */
    public ConnectionSetBuilder minMessageBytes(final int bytes) {
        minMessageBytes = bytes;
        return this;
    }

    /**
     * Sets the number of one-sided operations of this side that may be in flight on each connection; the default is 0. The sizes
     * of the queues are derived from it. The memory of operations is registered with {@link #peer} or {@link #domain}, of which
     * one is required. The target of operations needs no such number, only registered memory.
     *
     * @param operations 0 to 32,768, within the limits of the device
     * @return this
     * @see MessageConnection#tryWrite
     */
    public ConnectionSetBuilder operationsInFlight(final int operations) {
        operationsInFlight = operations;
        return this;
    }

    /**
     * Sets the maximum number of connections, accepted and requested; further requests are rejected. It bounds the memory:
     * each connection has a little more than twice {@link #messagesInFlight} buffers of {@link #maxMessageBytes}. The default is
     * 1,024. The memory of an ended connection with retained messages or an open claim is not counted: it remains until they are
     * given back.
     *
     * @param connections at least 1
     * @return this
     */
    public ConnectionSetBuilder maxConnections(final int connections) {
        maxConnections = connections;
        return this;
    }

    /**
     * Sets the number of polling threads; the default is 1. A new connection goes to the one with the fewest connections.
     *
     * @param threads 1 to 1,024
     * @return this
     */
    public ConnectionSetBuilder pollers(final int threads) {
        pollers = threads;
        return this;
    }

    /**
     * Makes the pollers agents instead of threads: {@link ConnectionSet#agents()} are to be given to an {@code AgentRunner},
     * {@code AgentInvoker} or {@code CompositeAgent} of the program, which starts, invokes and closes them. {@link #start()}
     * does not wait for that.
     *
     * <p>The thread that invokes the agent of a connection is its polling thread: it runs the callbacks, and may send also
     * between two duty cycles. It may call {@link ConnectionSet#connect} and {@link ConnectionSet#close} outside of
     * callbacks: these make the duty cycles while they wait. Another thread may invoke the agent after a duty cycle, but not
     * during one. Calls of threads that do not invoke wait for those that do, within their time-outs; a close makes the duty
     * cycles itself after a second without one. Connection events have a thread of the set.
     *
     * <p>Connections go to agents that have been started, if there are any, because the set cannot know whether a started agent
     * will be invoked: those of an agent that is started and not invoked wait. So start only agents that are invoked.
     *
     * @return this
     * @see io.ringpoll.pipeline.PipelineBuilder#asAgent()
     */
    public ConnectionSetBuilder asAgent() {
        asAgent = true;
        return this;
    }

    /**
     * Describes the pipelines of the polling threads: CPUs, idle strategies, counters. The set adds the handlers, run to
     * completion, and the consumer of undelivered completions, and closes the pipelines.
     *
     * @param description builder of each pipeline by index from 0 on, without handlers and queues; rejected by the start if it
     *                    has any
     * @return this
     */
    public ConnectionSetBuilder pipelines(final IntFunction<PipelineBuilder> description) {
        pipelines = description;
        return this;
    }

    /**
     * Sets the private data that is sent with each request and answer; see {@link MessageConnection#peerData()}.
     *
     * @param data at most 44 bytes; copied
     * @return this
     */
    public ConnectionSetBuilder privateData(final byte[] data) {
        privateData = Objects.requireNonNull(data, "the private data is null: leave it out to send none").clone();
        return this;
    }

    /**
     * Sets the default time-out of {@link ConnectionSet#connect(String, int)}; the default is 10 s.
     *
     * @param timeoutNs in nanoseconds; rejected by the start if less than 1 ms, as 0 and negative ones are
     * @return this
     */
    public ConnectionSetBuilder connectTimeoutNs(final long timeoutNs) {
        connectTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets the time in which an accepted connection must be established; the default is 10 s.
     *
     * @param timeoutNs in nanoseconds; rejected by the start if less than 1 ms, as 0 and negative ones are
     * @return this
     */
    public ConnectionSetBuilder acceptTimeoutNs(final long timeoutNs) {
        acceptTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets the silence after which the set asks whether a peer is still there; the default is 10 s. A peer that loses its power
     * or its network sends no disconnect, and an idle connection would never end. After a silence, in which nothing was received
     * or sent, the polling thread posts an RDMA write of 0 bytes, which needs neither memory nor a credit. The connection ends
     * with {@link DisconnectReason#PEER_LOST} when the device reports that it was not acknowledged, at the latest after two more
     * times of the silence. These do not pass while the pipeline is paused, and begin again when a message or one-sided operation
     * completes: choose them longer than the longest operation takes, which the write waits for. The device of a stopped process
     * may acknowledge it all the same.
     *
     * @param silenceNs in nanoseconds, looked at once a second; 0 for no keepalive; rejected by the start if negative
     * @return this
     */
    public ConnectionSetBuilder keepaliveNs(final long silenceNs) {
        keepaliveNs = silenceNs;
        return this;
    }

    /**
     * Sets the time without a completion after which a polling thread calls {@link ConnectionListener#onIdle}; by default it is
     * not called. A call may be late by a park of the idle strategy.
     *
     * @param timeoutNs in nanoseconds; 0, the default, for no calls; rejected by the start if negative
     * @return this
     */
    public ConnectionSetBuilder idleTimeoutNs(final long timeoutNs) {
        idleTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Closes the set at JVM shutdown, for instance at Ctrl-C; by default the program closes it.
     *
     * @param timeoutNs time-out of the close in nanoseconds; 0, the default, for no shutdown hook; rejected by the start if
     *     negative
     * @return this
     */
    public ConnectionSetBuilder shutdownTimeoutNs(final long timeoutNs) {
        shutdownTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets the filter of connection requests; the default accepts all, as far as there are places.
     *
     * @param filter called on the thread of connection events; null for none
     * @return this
     */
    public ConnectionSetBuilder acceptFilter(final AcceptFilter filter) {
        acceptFilter = filter;
        return this;
    }

    /**
     * Sets the handler of exceptions that the listener or a task has thrown; the default logs them with {@link System.Logger}.
     *
     * @param handler called on the thread of the exception
     * @return this
     */
    public ConnectionSetBuilder errorHandler(final ErrorHandler handler) {
        errorHandler = handler;
        return this;
    }

    /**
     * Checks the description, opens the device and starts the threads.
     *
     * @return the running set
     * @throws IllegalArgumentException                    with all errors of the description, one per line
     * @throws io.ringpoll.completion.RdmaException         if the device cannot be opened
     * @throws io.ringpoll.pipeline.PipelineStartException if a thread cannot start; none is left running
     * @throws IllegalStateException                       if this builder has started a set
     */
    public ConnectionSet start() {
        if (started) {
            throw new IllegalStateException("set " + name + " has been started: use a new builder for each set");
        }
        check();
        started = true;
        return new ConnectionSet(this);
    }

    /** The builder of one pipeline, without a handler. */
    PipelineBuilder newPipeline(final int index) {
        if (pipelines != null) {
            return Objects.requireNonNull(pipelines.apply(index), "the description of a pipeline is null");
        }
        final String pipelineName = pollers == 1 ? name : name + '-' + index;
        return Pipeline.builder().name(pipelineName).cores(Runtime.getRuntime().availableProcessors(), pollers - 1);
    }

    /** The device, whose close leaves open what was given to this builder; the address is looked up only if nothing was. */
    RcPeer openDevice(final Supplier<String> localAddress) {
        if (peer != null) {
            return RpmaObjects.of(peer);
        }
        return domain != null ? VerbsObjects.of(domain) : (verbs ? RdmaApi.VERBS : RdmaApi.RPMA).ofLocal(localAddress.get());
    }

    ConnectionSizes sizes() {
        return new ConnectionSizes(messagesInFlight, maxMessageBytes, operationsInFlight);
    }

    private void check() {
        final List<String> errors = new ArrayList<>();
        require(name != null && !name.isBlank(), "the name is empty", errors);
        require(name == null || name.chars().noneMatch(Character::isISOControl), "the name contains a control character", errors);
        require(listener != null, "there is no listener: messages need a handler", errors);
        require(peer == null || address == null, "a peer and an address are set: set one of them", errors);
        require(domain == null || address == null, "a domain and an address are set: set one of them", errors);
        require(peer == null || domain == null && !verbs, "a peer is librpma's, and the connections are made over verbs: set a " +
            "domain instead", errors);
        require(!sharedQueues || verbs || domain != null, "connections over librpma share no completion queue: set " +
            "overVerbs() or a domain, or leave out sharedCompletionQueue()", errors);
        require(peer == null || !peer.isClosed(), "the peer is closed: set an open one", errors);
        require(domain == null || !domain.isClosed(), "the domain is closed: set an open one", errors);
        require(messagesInFlight >= 1 && messagesInFlight <= Hello.MAX_WINDOW,
            "messagesInFlight is " + messagesInFlight + ": use 1 to " + Hello.MAX_WINDOW, errors);
        require(maxMessageBytes >= 1, "maxMessageBytes is " + maxMessageBytes + ": use at least 1", errors);
        require(minMessageBytes >= 1 && minMessageBytes <= Math.max(1, maxMessageBytes),
            "minMessageBytes is " + minMessageBytes + ": use 1 to maxMessageBytes, " + maxMessageBytes, errors);
        require(operationsInFlight >= 0 && operationsInFlight <= MAX_OPERATIONS,
            "operationsInFlight is " + operationsInFlight + ": use 0 to " + MAX_OPERATIONS, errors);
        require(operationsInFlight <= 0 || peer != null || domain != null,
            "operationsInFlight is set, but neither a peer nor a domain: set the one with which the memory of operations is " +
                "registered", errors);
        require(maxConnections >= 1, "maxConnections is " + maxConnections + ": use at least 1", errors);
        require(pollers >= 1 && pollers <= MAX_POLLERS, "there are " + pollers + " pollers: use 1 to " + MAX_POLLERS, errors);
        require(privateData.length <= Hello.MAX_USER_DATA,
            privateData.length + " bytes of private data: at most " + Hello.MAX_USER_DATA + " can be sent", errors);
        require(connectTimeoutNs >= TimeUnit.MILLISECONDS.toNanos(1), "the connect time-out is less than 1 ms", errors);
        require(acceptTimeoutNs >= TimeUnit.MILLISECONDS.toNanos(1), "the accept time-out is less than 1 ms", errors);
        require(keepaliveNs >= 0, "the time of silence before a keepalive is negative", errors);
        require(idleTimeoutNs >= 0, "the idle time-out is negative", errors);
        require(shutdownTimeoutNs >= 0, "the shutdown time-out is negative", errors);
        if (errors.isEmpty() && sizes().buffers().memoryBytes() > MAX_MEMORY_BYTES) {
            errors.add("a connection would need " + sizes().buffers().memoryBytes() +
                " bytes of buffers, at most " + MAX_MEMORY_BYTES + " are possible: reduce messagesInFlight or maxMessageBytes");
        }
        if (!errors.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", errors));
        }
    }

    private static void require(final boolean condition, final String error, final List<String> errors) {
        if (!condition) {
            errors.add(error);
        }
    }
}
