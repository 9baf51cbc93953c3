package io.ringpoll.bench.routing;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.util.Util;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import java.util.ArrayList;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One ring, one sequence: each handler looks at the status and opcode of every record and skips those of other paths. What the
 * pipeline does.
 */
final class SkippingRing implements Exchange {
    private static final int ALIGNMENT = 4096;

    private final UnsafeBuffer slots =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(CAPACITY * IbvWc.SIZE_BYTES, ALIGNMENT));
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final List<Sequence> passed = new ArrayList<>();
    private Sequence[] gating = {};
    private long published = -1;
    private long gate = -1;

    @Override
    public UnsafeBuffer slots() {
        return slots;
    }

    @Override
    public int claim(final int limit) {
        final int wanted = Math.min(limit, CAPACITY - ((int) (published + 1) & MASK));
        if (published + wanted > gate + CAPACITY) {
            gate = Util.getMinimumSequence(gating, published);
        }
        return (int) Math.min(wanted, gate + CAPACITY - published);
    }

    @Override
    public int offset() {
        return offset(published + 1);
    }

    @Override
    public void publish(final int count) {
        published += count;
        cursor.set(published);
    }

    @Override
    public Reader reader(final CompletionPath path) {
        final Sequence sequence = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
        passed.add(sequence);
        gating = passed.toArray(gating);
        return sink -> {
            final long first = sequence.get() + 1;
            final long last = Math.min(cursor.get(), first + READ_LIMIT - 1);
            if (last < first) {
                return 0;
            }
            int read = 0;
            long found = next(path, first, last);
            while (found <= last) {
                final long following = next(path, found + 1, last);
                sink.accept(slots, offset(found), following > last);
                read++;
                found = following;
            }
            sequence.set(last);
            return read;
        };
    }

    private long next(final CompletionPath path, final long from, final long last) {
        long sequence = from;
        while (sequence <= last && CompletionPath.of(slots.getLong(offset(sequence) + IbvWc.STATUS_OFFSET)) != path) {
            sequence++;
        }
        return sequence;
    }

    private static int offset(final long sequence) {
        return ((int) sequence & MASK) * IbvWc.SIZE_BYTES;
    }
}
