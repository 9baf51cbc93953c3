package io.ringpoll.bench.handoff;

/** The {@link NeededFields} of a completion as an object on the heap. Written by the producer, then read by the consumer. */
final class CompletionEvent {
    private long workRequestId;
    private long statusAndOpcode;

    /** Copies the fields of a polled record. */
    CompletionEvent copyFrom(final long record) {
        workRequestId = NeededFields.workRequestId(record);
        statusAndOpcode = NeededFields.statusAndOpcode(record);
        return this;
    }

    /** Passes the completion to the handler. */
    void handle(final Work work) {
        work.onCopy(workRequestId, statusAndOpcode);
    }
}
