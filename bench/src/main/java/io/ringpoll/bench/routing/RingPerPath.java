package io.ringpoll.bench.routing;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A ring for each path. Where a record belongs is known only when it has been polled, so the poll writes to memory on the side
 * and the record is copied: the claim in place is given up.
 */
final class RingPerPath implements Exchange {
    private static final int ALIGNMENT = 4096;
    private static final int PATHS = CompletionPath.values().length;

    private final UnsafeBuffer polled;
    private final UnsafeBuffer[] rings = new UnsafeBuffer[PATHS];
    private final Sequence[] cursors = new Sequence[PATHS];
    private final Sequence[] passed = new Sequence[PATHS];
    private final long[] tails = new long[PATHS];
    private final long[] publishedTails = new long[PATHS];
    private final long[] gates = new long[PATHS];

    RingPerPath(final int batchLimit) {
        polled = new UnsafeBuffer(BufferUtil.allocateDirectAligned(batchLimit * IbvWc.SIZE_BYTES, ALIGNMENT));
        for (int path = 0; path < PATHS; path++) {
            rings[path] = new UnsafeBuffer(BufferUtil.allocateDirectAligned(CAPACITY * IbvWc.SIZE_BYTES, ALIGNMENT));
            cursors[path] = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
            tails[path] = -1;
            publishedTails[path] = -1;
            gates[path] = -1;
        }
    }

    @Override
    public UnsafeBuffer slots() {
        return polled;
    }

    /** Any record may be of any path: each ring must have room for all. */
    @Override
    public int claim(final int limit) {
        long claimed = limit;
        for (int path = 0; path < PATHS; path++) {
            if (passed[path] != null) {
                if (tails[path] + limit > gates[path] + CAPACITY) {
                    gates[path] = passed[path].get();
                }
                claimed = Math.min(claimed, gates[path] + CAPACITY - tails[path]);
            }
        }
        return (int) claimed;
    }

    @Override
    public int offset() {
        return 0;
    }

    @Override
    public void publish(final int count) {
        for (int i = 0; i < count; i++) {
            final int offset = i * IbvWc.SIZE_BYTES;
            final int path = CompletionPath.of(polled.getLong(offset + IbvWc.STATUS_OFFSET)).ordinal();
            final long tail = ++tails[path];
            final UnsafeBuffer ring = rings[path];
            final int target = ((int) tail & MASK) * IbvWc.SIZE_BYTES;
            for (int field = 0; field < IbvWc.SIZE_BYTES; field += Long.BYTES) {
                ring.putLong(target + field, polled.getLong(offset + field));
            }
        }
        for (int path = 0; path < PATHS; path++) {
            if (tails[path] != publishedTails[path]) {
                publishedTails[path] = tails[path];
                cursors[path].set(tails[path]);
            }
        }
    }

    @Override
    public Reader reader(final CompletionPath path) {
        final Sequence sequence = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
        passed[path.ordinal()] = sequence;
        final Sequence cursor = cursors[path.ordinal()];
        final UnsafeBuffer ring = rings[path.ordinal()];
        return sink -> {
            final long first = sequence.get() + 1;
            final long last = Math.min(cursor.get(), first + READ_LIMIT - 1);
            for (long i = first; i <= last; i++) {
                sink.accept(ring, ((int) i & MASK) * IbvWc.SIZE_BYTES, i == last);
            }
            if (last >= first) {
                sequence.set(last);
            }
            return (int) (last - first + 1);
        };
    }
}
