package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.SlotControl;
import io.ringpoll.verify.torture.supervised.Violations;

/**
 * A slot that a handler holds until another thread releases it.
 *
 * @param slots         slots of the handler
 * @param sequence      sequence of the slot
 * @param workRequestId its expected content until then
 */
record HeldSlot(SlotControl slots, long sequence, long workRequestId) {
    /** Verifies the slot once more and releases it; any one thread. */
    void release(final Violations violations) {
        final long now = slots.view(sequence, new WorkCompletion()).workRequestId();
        violations.expect(now == workRequestId, "the held slot of sequence " + sequence + " changed from " +
            Long.toHexString(workRequestId) + " to " + Long.toHexString(now));
        slots.release(sequence);
        try {
            slots.release(sequence);
            violations.add("sequence " + sequence + " could be given back twice");
        } catch (final IllegalStateException expected) {
            // As documented.
        }
    }
}
