package io.ringpoll.bench.routing;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One ring of records, filled in place, and for each path a ring of 4-byte positions that the poller writes when it publishes: a
 * handler touches its own records only.
 */
final class IndexedRing implements Exchange {
    private static final int ALIGNMENT = 4096;
    private static final int PATHS = CompletionPath.values().length;

    private final UnsafeBuffer slots =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(CAPACITY * IbvWc.SIZE_BYTES, ALIGNMENT));
    private final UnsafeBuffer[] index = new UnsafeBuffer[PATHS];
    private final Sequence[] cursors = new Sequence[PATHS];
    private final Sequence[] passed = new Sequence[PATHS];
    private final long[] tails = new long[PATHS];
    private final long[] publishedTails = new long[PATHS];
    private long published = -1;
    private long gate = -1;

    IndexedRing() {
        for (int path = 0; path < PATHS; path++) {
            index[path] = new UnsafeBuffer(BufferUtil.allocateDirectAligned(CAPACITY * Integer.BYTES, ALIGNMENT));
            cursors[path] = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
            tails[path] = -1;
            publishedTails[path] = -1;
        }
    }

    @Override
    public UnsafeBuffer slots() {
        return slots;
    }

    @Override
    public int claim(final int limit) {
        final int wanted = Math.min(limit, CAPACITY - ((int) (published + 1) & MASK));
        if (published + wanted > gate + CAPACITY) {
            gate = firstUnread() - 1;
        }
        return (int) Math.min(wanted, gate + CAPACITY - published);
    }

    @Override
    public int offset() {
        return ((int) (published + 1) & MASK) * IbvWc.SIZE_BYTES;
    }

    @Override
    public void publish(final int count) {
        int offset = offset();
        for (int i = 1; i <= count; i++) {
            final int path = CompletionPath.of(slots.getLong(offset + IbvWc.STATUS_OFFSET)).ordinal();
            final long tail = ++tails[path];
            index[path].putInt(((int) tail & MASK) * Integer.BYTES, (int) published + i);
            offset += IbvWc.SIZE_BYTES;
        }
        published += count;
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
        final UnsafeBuffer positions = index[path.ordinal()];
        return sink -> {
            final long first = sequence.get() + 1;
            final long last = Math.min(cursor.get(), first + READ_LIMIT - 1);
            for (long i = first; i <= last; i++) {
                final int position = positions.getInt(((int) i & MASK) * Integer.BYTES);
                sink.accept(slots, (position & MASK) * IbvWc.SIZE_BYTES, i == last);
            }
            if (last >= first) {
                sequence.set(last);
            }
            return (int) (last - first + 1);
        };
    }

    /** The first record that some handler has not passed. */
    private long firstUnread() {
        long first = published + 1;
        for (int path = 0; path < PATHS; path++) {
            final Sequence sequence = passed[path];
            if (sequence != null && sequence.get() < tails[path]) {
                final int low = index[path].getInt(((int) (sequence.get() + 1) & MASK) * Integer.BYTES);
                first = Math.min(first, published - ((int) published - low));
            }
        }
        return first;
    }
}
