package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;

/**
 * How a shared receive queue is made. It is copied when the queue is made.
 *
 * <p>Used by one thread at a time. A setter and its getter have the same name.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_new.3.html">rpma_srq_cfg_new(3)</a>
 */
public final class SharedReceiveQueueConfig extends Configuration {
    private SharedReceiveQueueConfig(final long address) {
        super("shared receive queue configuration", address);
    }

    /**
     * Creates a configuration with librpma's defaults.
     *
     * @return to be closed
     * @throws RpmaException {@code RPMA_E_NOMEM}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_new.3.html">rpma_srq_cfg_new(3)</a>
     */
    public static SharedReceiveQueueConfig create() {
        Loading.require();
        final CallState state = CallState.current();
        RpmaException.check("rpma_srq_cfg_new", Librpma.CONFIG.rpma_srq_cfg_new(state.scratch()));
        return new SharedReceiveQueueConfig(state.longAt(0));
    }

    /**
     * Sets the size of the receive queue.
     *
     * @param entries at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_set_rq_size.3.html">
     *     rpma_srq_cfg_set_rq_size(3)</a>
     */
    public SharedReceiveQueueConfig rqSize(final int entries) {
        setNumber("rpma_srq_cfg_set_rq_size", Librpma.CONFIG::rpma_srq_cfg_set_rq_size, checkEntries("receive queue", entries));
        return this;
    }

    /**
     * The size of the receive queue.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_get_rq_size.3.html">
     *     rpma_srq_cfg_get_rq_size(3)</a>
     */
    public int rqSize() {
        return get("rpma_srq_cfg_get_rq_size", Librpma.CONFIG::rpma_srq_cfg_get_rq_size).intAt(0);
    }

    /**
     * Sets the size of the receive CQ.
     *
     * @param entries at least that many, or 0 for none: then receives complete in the CQs of the connections
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_set_rcq_size.3.html">
     *     rpma_srq_cfg_set_rcq_size(3)</a>
     */
    public SharedReceiveQueueConfig rcqSize(final int entries) {
        setNumber("rpma_srq_cfg_set_rcq_size", Librpma.CONFIG::rpma_srq_cfg_set_rcq_size, checkEntries("receive CQ", entries));
        return this;
    }

    /**
     * The size of the receive CQ.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_get_rcq_size.3.html">
     *     rpma_srq_cfg_get_rcq_size(3)</a>
     */
    public int rcqSize() {
        return get("rpma_srq_cfg_get_rcq_size", Librpma.CONFIG::rpma_srq_cfg_get_rcq_size).intAt(0);
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_srq_cfg_delete", delete(Librpma.CONFIG::rpma_srq_cfg_delete, lastAddress));
    }
}
