package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.NativeResource;

/**
 * How a shared receive queue is made. It is copied when the queue is made.
 *
 * <p>Used by one thread at a time. A setter and its getter have the same name.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_new.3.html">rpma_srq_cfg_new(3)</a>
 */
public final class SharedReceiveQueueConfig extends NativeResource {
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
     * Sets how many receives may be posted.
     *
     * @param entries at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_set_rq_size.3.html">
     *     rpma_srq_cfg_set_rq_size(3)</a>
     */
    public SharedReceiveQueueConfig rqSize(final int entries) {
        final long config = enter();
        try {
            RpmaException.check("rpma_srq_cfg_set_rq_size",
                Librpma.CONFIG.rpma_srq_cfg_set_rq_size(config, ConnectionConfig.checkEntries("receive queue", entries)));
            return this;
        } finally {
            exit();
        }
    }

    /**
     * How many receives may be posted.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_get_rq_size.3.html">
     *     rpma_srq_cfg_get_rq_size(3)</a>
     */
    public int rqSize() {
        final long config = enter();
        try {
            final CallState state = CallState.current();
            RpmaException.check("rpma_srq_cfg_get_rq_size", Librpma.CONFIG.rpma_srq_cfg_get_rq_size(config, state.scratch()));
            return state.intAt(0);
        } finally {
            exit();
        }
    }

    /**
     * Sets how many completions the queue's receive CQ holds.
     *
     * @param entries at least that many, or 0 for none: then receives complete in the CQs of the connections
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_set_rcq_size.3.html">
     *     rpma_srq_cfg_set_rcq_size(3)</a>
     */
    public SharedReceiveQueueConfig rcqSize(final int entries) {
        final long config = enter();
        try {
            RpmaException.check("rpma_srq_cfg_set_rcq_size",
                Librpma.CONFIG.rpma_srq_cfg_set_rcq_size(config, ConnectionConfig.checkEntries("receive CQ", entries)));
            return this;
        } finally {
            exit();
        }
    }

    /**
     * How many completions the queue's receive CQ holds.
     *
     * @return entries, as they were asked for
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_cfg_get_rcq_size.3.html">
     *     rpma_srq_cfg_get_rcq_size(3)</a>
     */
    public int rcqSize() {
        final long config = enter();
        try {
            final CallState state = CallState.current();
            RpmaException.check("rpma_srq_cfg_get_rcq_size", Librpma.CONFIG.rpma_srq_cfg_get_rcq_size(config, state.scratch()));
            return state.intAt(0);
        } finally {
            exit();
        }
    }

    /** Enters a configuration for a call that copies it; null means the defaults and returns 0. */
    static long enter(final SharedReceiveQueueConfig config) {
        return config == null ? 0 : config.enter();
    }

    /** Leaves a configuration after {@link #enter(SharedReceiveQueueConfig)}. */
    static void exit(final SharedReceiveQueueConfig config) {
        if (config != null) {
            config.exit();
        }
    }

    @Override
    protected void destroy(final long lastAddress) {
        final CallState state = CallState.current();
        final long pointer = state.scratch();
        state.longAt(0, lastAddress);
        RpmaException.check("rpma_srq_cfg_delete", Librpma.CONFIG.rpma_srq_cfg_delete(pointer));
    }
}
