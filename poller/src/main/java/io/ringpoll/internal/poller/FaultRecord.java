package io.ringpoll.internal.poller;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.poller.QueueFault;
import org.agrona.MutableDirectBuffer;

/** Writes the record of a {@link QueueFault}; polling thread only. */
final class FaultRecord {
    private FaultRecord() {
    }

    static void write(final MutableDirectBuffer slab, final int offset, final int code) {
        slab.setMemory(offset, IbvWc.SIZE_BYTES, (byte) 0);
        slab.putInt(offset + IbvWc.STATUS_OFFSET, QueueFault.STATUS);
        slab.putInt(offset + IbvWc.VENDOR_ERR_OFFSET, code);
    }
}
