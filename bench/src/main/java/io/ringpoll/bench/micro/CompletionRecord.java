package io.ringpoll.bench.micro;

import io.ringpoll.bench.micro.FlyweightBenchmark.Reading;
import io.ringpoll.completion.IbvWc;
import org.agrona.UnsafeApi;

/** A work completion as an ordinary object. Copied by address, without checks. */
final class CompletionRecord {
    long workRequestId;
    int status;
    int opcode;
    int vendorError;
    int lengthBytes;
    int queuePairNumber;
    int sourceQueuePairNumber;
    int flags;

    /** Copies the fields that are needed to read one property. */
    void copyFor(final Reading reading, final long record) {
        switch (reading) {
            case WORK_REQUEST_ID -> workRequestId = UnsafeApi.getLong(record + IbvWc.WR_ID_OFFSET);
            case STATUS -> status = UnsafeApi.getInt(record + IbvWc.STATUS_OFFSET);
            case OPCODE -> opcode = UnsafeApi.getInt(record + IbvWc.OPCODE_OFFSET);
            case VENDOR_ERROR -> vendorError = UnsafeApi.getInt(record + IbvWc.VENDOR_ERR_OFFSET);
            case LENGTH -> lengthBytes = UnsafeApi.getInt(record + IbvWc.BYTE_LEN_OFFSET);
            case QUEUE_PAIR -> queuePairNumber = UnsafeApi.getInt(record + IbvWc.QP_NUM_OFFSET);
            case SOURCE_QUEUE_PAIR -> sourceQueuePairNumber = UnsafeApi.getInt(record + IbvWc.SRC_QP_OFFSET);
            case FLAGS -> flags = UnsafeApi.getInt(record + IbvWc.WC_FLAGS_OFFSET);
            case PATH -> {
                status = UnsafeApi.getInt(record + IbvWc.STATUS_OFFSET);
                opcode = UnsafeApi.getInt(record + IbvWc.OPCODE_OFFSET);
            }
        }
    }
}
