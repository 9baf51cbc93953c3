package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;

/**
 * How a connection is made: the sizes of its queues and the time-out. It is copied when a request is made.
 *
 * <p>Used by one thread at a time. A setter and its getter have the same name.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_new.3.html">rpma_conn_cfg_new(3)</a>
 */
public final class ConnectionConfig extends Configuration {
    /** librpma's {@code RPMA_DEFAULT_Q_SIZE}. */
    static final int DEFAULT_CQ_SIZE = 10;

    private SharedReceiveQueue sharedQueue;
    private boolean sharedChannel;

    private ConnectionConfig(final long address) {
        super("connection configuration", address);
    }

    /**
     * Creates a configuration with librpma's defaults: 1 s, queues of 10, no receive CQ, separate channels, no shared queue.
     *
     * @return to be closed
     * @throws RpmaException {@code RPMA_E_NOMEM}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_new.3.html">rpma_conn_cfg_new(3)</a>
     */
    public static ConnectionConfig create() {
        Loading.require();
        final CallState state = CallState.current();
        RpmaException.check("rpma_conn_cfg_new", Librpma.CONFIG.rpma_conn_cfg_new(state.scratch()));
        return new ConnectionConfig(state.longAt(0));
    }

    /**
     * Sets how long finding the other side may take.
     *
     * @param timeoutMs in milliseconds; 0 leaves no time, negative is rejected
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_timeout.3.html">
     *     rpma_conn_cfg_set_timeout(3)</a>
     */
    public ConnectionConfig timeoutMs(final int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("a time-out of " + timeoutMs + " ms is negative");
        }
        setNumber("rpma_conn_cfg_set_timeout", Librpma.CONFIG::rpma_conn_cfg_set_timeout, timeoutMs);
        return this;
    }

    /**
     * How long finding the other side may take.
     *
     * @return in milliseconds
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_timeout.3.html">
     *     rpma_conn_cfg_get_timeout(3)</a>
     */
    public int timeoutMs() {
        return get("rpma_conn_cfg_get_timeout", Librpma.CONFIG::rpma_conn_cfg_get_timeout).intAt(0);
    }

    /**
     * Sets the size of the main CQ.
     *
     * @param entries at least that many
     * @return this
     * @throws IllegalArgumentException if it is less than 1
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_cq_size.3.html">
     *     rpma_conn_cfg_set_cq_size(3)</a>
     */
    public ConnectionConfig cqSize(final int entries) {
        if (entries == 0) {
            throw new IllegalArgumentException("the main CQ cannot have 0 entries: each connection needs one, of at least 1");
        }
        setNumber("rpma_conn_cfg_set_cq_size", Librpma.CONFIG::rpma_conn_cfg_set_cq_size, checkEntries("main CQ", entries));
        return this;
    }

    /**
     * The size of the main CQ.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_cq_size.3.html">
     *     rpma_conn_cfg_get_cq_size(3)</a>
     */
    public int cqSize() {
        return get("rpma_conn_cfg_get_cq_size", Librpma.CONFIG::rpma_conn_cfg_get_cq_size).intAt(0);
    }

    /**
     * Sets the size of the receive CQ.
     *
     * @param entries at least that many, or 0 for none: then receives complete in the main CQ
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_rcq_size.3.html">
     *     rpma_conn_cfg_set_rcq_size(3)</a>
     */
    public ConnectionConfig rcqSize(final int entries) {
        setNumber("rpma_conn_cfg_set_rcq_size", Librpma.CONFIG::rpma_conn_cfg_set_rcq_size, checkEntries("receive CQ", entries));
        return this;
    }

    /**
     * The size of the receive CQ.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_rcq_size.3.html">
     *     rpma_conn_cfg_get_rcq_size(3)</a>
     */
    public int rcqSize() {
        return get("rpma_conn_cfg_get_rcq_size", Librpma.CONFIG::rpma_conn_cfg_get_rcq_size).intAt(0);
    }

    /**
     * Sets the size of the send queue.
     *
     * @param entries at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_sq_size.3.html">
     *     rpma_conn_cfg_set_sq_size(3)</a>
     */
    public ConnectionConfig sqSize(final int entries) {
        setNumber("rpma_conn_cfg_set_sq_size", Librpma.CONFIG::rpma_conn_cfg_set_sq_size, checkEntries("send queue", entries));
        return this;
    }

    /**
     * The size of the send queue.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_sq_size.3.html">
     *     rpma_conn_cfg_get_sq_size(3)</a>
     */
    public int sqSize() {
        return get("rpma_conn_cfg_get_sq_size", Librpma.CONFIG::rpma_conn_cfg_get_sq_size).intAt(0);
    }

    /**
     * Sets the size of the receive queue.
     *
     * @param entries at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_rq_size.3.html">
     *     rpma_conn_cfg_set_rq_size(3)</a>
     */
    public ConnectionConfig rqSize(final int entries) {
        setNumber("rpma_conn_cfg_set_rq_size", Librpma.CONFIG::rpma_conn_cfg_set_rq_size, checkEntries("receive queue", entries));
        return this;
    }

    /**
     * The size of the receive queue.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_rq_size.3.html">
     *     rpma_conn_cfg_get_rq_size(3)</a>
     */
    public int rqSize() {
        return get("rpma_conn_cfg_get_rq_size", Librpma.CONFIG::rpma_conn_cfg_get_rq_size).intAt(0);
    }

    /**
     * Sets whether main and receive CQ share a completion channel.
     *
     * @param shared if so, {@link Connection#awaitCompletions} waits for both; else {@link RpmaCompletionQueue#await} for each
     * @return this
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_compl_channel.3.html">
     *     rpma_conn_cfg_set_compl_channel(3)</a>
     */
    public ConnectionConfig sharedCompletionChannel(final boolean shared) {
        setSwitch("rpma_conn_cfg_set_compl_channel", Librpma.CONFIG::rpma_conn_cfg_set_compl_channel, shared);
        sharedChannel = shared;
        return this;
    }

    /**
     * Whether main and receive CQ share a completion channel.
     *
     * @return true if they do
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_compl_channel.3.html">
     *     rpma_conn_cfg_get_compl_channel(3)</a>
     */
    public boolean sharedCompletionChannel() {
        return get("rpma_conn_cfg_get_compl_channel", Librpma.CONFIG::rpma_conn_cfg_get_compl_channel).byteAt(0) != 0;
    }

    /**
     * Sets the shared receive queue that the connection takes its receives from.
     *
     * @param queue of the connection's peer, or of another one on the same device: its receives need memory of its own peer. It
     *     cannot be closed before this configuration
     * @return this
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_set_srq.3.html">rpma_conn_cfg_set_srq(3)</a>
     */
    public ConnectionConfig sharedReceiveQueue(final SharedReceiveQueue queue) {
        final long queueAddress = queue.enterAsParent();
        try {
            call("rpma_conn_cfg_set_srq", Librpma.CONFIG::rpma_conn_cfg_set_srq, queueAddress);
            if (sharedQueue != null) {
                independentOf(sharedQueue);
            }
            dependsOn(queue);
            sharedQueue = queue;
            return this;
        } finally {
            queue.exitAsParent();
        }
    }

    /**
     * The shared receive queue that the connection takes its receives from.
     *
     * @return the queue, or null if it has its own
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_cfg_get_srq.3.html">rpma_conn_cfg_get_srq(3)</a>
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return get("rpma_conn_cfg_get_srq", Librpma.CONFIG::rpma_conn_cfg_get_srq).longAt(0) == 0 ? null : sharedQueue;
    }

    /** Copies a configuration, to be closed; null returns null. */
    static ConnectionConfig copyOf(final ConnectionConfig config) {
        if (config == null) {
            return null;
        }
        final ConnectionConfig copy = create();
        boolean complete = false;
        try {
            copy.timeoutMs(config.timeoutMs()).cqSize(config.cqSize()).rcqSize(config.rcqSize())
                .sqSize(config.sqSize()).rqSize(config.rqSize());
            // Older libraries have neither; there they cannot have been set.
            if (config.sharedChannel) {
                copy.sharedCompletionChannel(true);
            }
            if (config.sharedQueue != null) {
                copy.sharedReceiveQueue(config.sharedQueue);
            }
            complete = true;
            return copy;
        } finally {
            if (!complete) {
                copy.close();
            }
        }
    }

    /** Refuses a closed configuration; null means the defaults. */
    static void requireOpen(final ConnectionConfig config) {
        enter(config);
        exit(config);
    }

    /** The shared receive queue of a configuration that may be null. */
    static SharedReceiveQueue sharedQueueOf(final ConnectionConfig config) {
        return config == null ? null : config.sharedQueue;
    }

    /** The size of the queue in which receives complete; the configuration may be null. */
    static int mostReceivesOf(final ConnectionConfig config) {
        if (config == null) {
            return DEFAULT_CQ_SIZE;
        }
        final int receiveCqSize = config.rcqSize();
        return receiveCqSize > 0 ? receiveCqSize : config.cqSize();
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_conn_cfg_delete", delete(Librpma.CONFIG::rpma_conn_cfg_delete, lastAddress));
    }
}
