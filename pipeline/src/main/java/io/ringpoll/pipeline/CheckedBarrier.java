package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.TimeoutException;

/**
 * The barrier of a handler with a wait strategy of the user, which may return a slot that is not published, or that the handlers
 * before this one have not passed.
 */
final class CheckedBarrier extends HandlerBarrier {
    private final String roleName;

    CheckedBarrier(final Sequence cursor, final Sequence dependent, final HandlerConfig config) {
        super(cursor, dependent, config.waitStrategy());
        roleName = config.roleName();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the strategy returns a later slot than there is
     */
    @Override
    public long waitFor(final long sequence) throws AlertException, InterruptedException, TimeoutException {
        final long available = super.waitFor(sequence);
        if (available >= sequence && available > getCursor()) {
            throw new IllegalStateException("the wait strategy of handler " + roleName + " returned slot " + available +
                ", but the last one is " + getCursor() + ": return what the dependent sequence has reached");
        }
        return available;
    }
}
