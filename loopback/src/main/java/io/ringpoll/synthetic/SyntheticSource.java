package io.ringpoll.synthetic;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.device.Device;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A synthetic device with one completion queue of librpma: polling the queue carries out a {@link SyntheticProgram}.
 *
 * <p>The queue is the receive queue of a shared receive queue, which is librpma's only way to a queue without a connection. It is
 * polled by one thread at a time; the rest may be called by any.
 */
public final class SyntheticSource extends NativeResource {
    private static final int QUEUE_ENTRIES = 16;

    private final VerbsContext context;
    private final Peer peer;
    private final SharedReceiveQueue receives;
    private final RpmaCompletionQueue queue;

    private SyntheticSource(final long address) {
        super("synthetic device", address);
        context = VerbsAccess.context(address, this);
        // A part of this, and no user of its context.
        peer = Peer.of(VerbsAccess.context(address));
        receives = receives(peer);
        queue = receives.receiveCompletionQueue().orElseThrow();
    }

    /** The queue, of a peer that is closed if that fails. */
    private static SharedReceiveQueue receives(final Peer peer) {
        boolean created = false;
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create()) {
            final SharedReceiveQueue receives = peer.sharedReceiveQueue(config.rcqSize(QUEUE_ENTRIES));
            created = true;
            return receives;
        } finally {
            if (!created) {
                peer.close();
            }
        }
    }

    /**
     * Opens a device; its queue is empty until {@link #start}.
     *
     * @return to be closed after the last poll
     * @throws UnsupportedOperationException if the process does not use the loopback device, which this is a part of
     * @throws RdmaException                 if there is no memory or no descriptor left
     */
    public static SyntheticSource open() {
        final Device device = Device.current();
        if (!Libraries.current().ibverbs().has("ringpoll_synthetic_open")) {
            throw new UnsupportedOperationException("the synthetic queue is part of the loopback device, but the device is "
                + device.kind() + "; choose the device loopback");
        }
        final long address = SyntheticFunctions.open();
        if (address == 0) {
            throw new VerbsException("ringpoll_synthetic_open", CallState.current().errno());
        }
        return take(address, SyntheticSource::new, SyntheticFunctions::close);
    }

    /**
     * Sets another program, which starts with the next poll. Its memory is kept until this source is closed.
     *
     * @param program to run
     */
    public void start(final SyntheticProgram program) {
        final long device = enter();
        try (Arena arena = Arena.ofConfined()) {
            check("ringpoll_synthetic_start", SyntheticFunctions.start(device, encode(program, arena).address()));
        } finally {
            exit();
        }
    }

    /** Stops the program: the queue is empty until the next {@link #start}. */
    public void stop() {
        start(SyntheticProgram.of(CompletionMix.of(CompletionKind.send(0)), Schedule.saturation()).limitedTo(0));
    }

    /**
     * The number of polled completions of the present program.
     *
     * @return a moment's value
     */
    public long given() {
        final long device = enter();
        try {
            final CallState state = CallState.current();
            check("ringpoll_synthetic_given", SyntheticFunctions.given(device, state.scratch()));
            return state.longAt(0);
        } finally {
            exit();
        }
    }

    /**
     * The longest time between two polls that followed each other, since the present program began or this was called last, if
     * the program has a schedule: then the polling thread was away, or busy with something else.
     *
     * @return nanoseconds
     */
    public long takeLongestGapNs() {
        final long device = enter();
        try {
            final CallState state = CallState.current();
            check("ringpoll_synthetic_take_longest_gap", SyntheticFunctions.takeLongestGap(device, state.scratch()));
            return state.longAt(0);
        } finally {
            exit();
        }
    }

    /**
     * The queue, polled through librpma.
     *
     * @return the same at each call; ends with this
     */
    public RpmaCompletionQueue queue() {
        return queue;
    }

    /**
     * The device, for C code that makes a queue of its own; its queues draw from the same program.
     *
     * @return lives as long as this, which cannot be closed before what is created with it
     */
    public VerbsContext context() {
        return context;
    }

    @Override
    protected void endParts() {
        receives.close();
        peer.close();
    }

    @Override
    protected void destroy(final long lastAddress) {
        if (SyntheticFunctions.close(lastAddress) != 0) {
            throw new VerbsException("ibv_close_device", CallState.current().errno());
        }
    }

    private static void check(final String function, final int errno) {
        if (errno != 0) {
            throw new VerbsException(function, errno);
        }
    }

    private static MemorySegment encode(final SyntheticProgram program, final Arena arena) {
        final MemorySegment pattern = arena.allocate(SyntheticFunctions.KIND, program.mix().pattern().size());
        long offset = 0;
        for (final CompletionKind kind : program.mix().pattern()) {
            for (final int field : new int[] {kind.status(), kind.opcode(), kind.queuePairNumber(), kind.lengthBytes()}) {
                pattern.set(ValueLayout.JAVA_INT, offset, field);
                offset += Integer.BYTES;
            }
        }
        final long[] dueNs = program.schedule().dueNs();
        final MemorySegment encoded = arena.allocate(SyntheticFunctions.PROGRAM);
        putLong(encoded, "count", program.count());
        putLong(encoded, "start_ns", program.startNs());
        putLong(encoded, "period_ns", program.schedule().periodNs());
        putLong(encoded, "schedule_ns",
            dueNs.length == 0 ? 0 : arena.allocateFrom(ValueLayout.JAVA_LONG, dueNs).address());
        putLong(encoded, "pattern", pattern.address());
        putInt(encoded, "schedule_length", dueNs.length);
        putInt(encoded, "pattern_length", program.mix().pattern().size());
        putInt(encoded, "max_batch", program.maxBatch());
        putInt(encoded, "empty_polls", program.emptyPolls());
        return encoded;
    }

    private static void putLong(final MemorySegment struct, final String field, final long value) {
        struct.set(ValueLayout.JAVA_LONG, offset(field), value);
    }

    private static void putInt(final MemorySegment struct, final String field, final int value) {
        struct.set(ValueLayout.JAVA_INT, offset(field), value);
    }

    private static long offset(final String field) {
        return SyntheticFunctions.PROGRAM.byteOffset(PathElement.groupElement(field));
    }
}
