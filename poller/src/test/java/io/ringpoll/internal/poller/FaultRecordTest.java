package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.QueueFault;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The record of a fault on the error path. */
@Timeout(60)
class FaultRecordTest {
    @Test
    void shouldFillOneSlotWithTheCodeAndNothingElse() {
        final UnsafeBuffer slab = new UnsafeBuffer(ByteBuffer.allocateDirect(3 * IbvWc.SIZE_BYTES));
        slab.setMemory(0, slab.capacity(), (byte) 0xEE);
        FaultRecord.write(slab, IbvWc.SIZE_BYTES, -5);
        final WorkCompletion fault = new WorkCompletion().wrap(slab, IbvWc.SIZE_BYTES);
        assertEquals(QueueFault.STATUS, fault.status());
        assertEquals(-5, fault.vendorError());
        assertEquals(0, fault.workRequestId());
        for (int i = 0; i < IbvWc.SIZE_BYTES; i++) {
            assertEquals((byte) 0xEE, slab.getByte(i), "written before the slot");
            assertEquals((byte) 0xEE, slab.getByte(2 * IbvWc.SIZE_BYTES + i), "written behind the slot");
        }
    }
}
