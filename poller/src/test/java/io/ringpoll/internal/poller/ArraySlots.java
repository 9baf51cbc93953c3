package io.ringpoll.internal.poller;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.verbs.RecordAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/** A {@link SlotRing} of a fixed number of slots, each used once, and its handlers, for tests of a poller without threads. */
final class ArraySlots implements SlotRing, RingHandlers {
    private final UnsafeBuffer slab;
    private final int[] queueIndexes;
    private int free;
    private int published;
    private volatile long passed = Long.MAX_VALUE;
    private volatile boolean halted;
    private long causedStallNs;
    private int stalls;
    private boolean inPlace;
    private Runnable onPublish = () -> { };
    private Runnable onClaim = () -> { };

    ArraySlots(final int capacity, final int free) {
        this.slab = new UnsafeBuffer(ByteBuffer.allocateDirect(capacity * IbvWc.SIZE_BYTES));
        this.queueIndexes = new int[capacity];
        this.free = free;
    }

    /** Runs a handler in place at each publication. */
    ArraySlots handledInPlaceBy(final Runnable handler) {
        inPlace = true;
        return handledBy(handler);
    }

    /** Runs an action at each publication, in the role of a handler on another thread. */
    ArraySlots handledBy(final Runnable handler) {
        onPublish = handler;
        return this;
    }

    /** Runs an action at each claim. */
    ArraySlots claimedBy(final Runnable action) {
        onClaim = action;
        return this;
    }

    void release(final int slots) {
        free += slots;
    }

    /** Sets the last slot that the handlers have passed; by default they are never behind. */
    void passThrough(final long sequence) {
        passed = sequence;
    }

    void halt() {
        halted = true;
    }

    int stalls() {
        return stalls;
    }

    long causedStallNs() {
        return causedStallNs;
    }

    int published() {
        return published;
    }

    WorkCompletion get(final int slot) {
        final WorkCompletion completion = new WorkCompletion().wrap(slab, slot * IbvWc.SIZE_BYTES);
        RecordAddress.source(completion, address -> queueIndexes[slot]);
        return completion;
    }

    @Override
    public UnsafeBuffer slab() {
        return slab;
    }

    @Override
    public boolean isHalted() {
        return halted;
    }

    @Override
    public long lastPublished() {
        return published - 1;
    }

    @Override
    public boolean isPassed(final long sequence) {
        return sequence <= passed;
    }

    @Override
    public int claim(final int limit) {
        onClaim.run();
        return halted ? HALTED : Math.min(limit, free);
    }

    @Override
    public void onStall(final long elapsedNs) {
        stalls += elapsedNs == 0 ? 1 : 0;
        causedStallNs += elapsedNs;
    }

    @Override
    public int claimedOffset() {
        return published * IbvWc.SIZE_BYTES;
    }

    @Override
    public void publish(final int count, final int queueIndex) {
        Arrays.fill(queueIndexes, published, published + count, queueIndex);
        published += count;
        free -= count;
        onPublish.run();
    }

    @Override
    public boolean runInPlace() {
        return inPlace;
    }
}
