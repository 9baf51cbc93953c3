package io.ringpoll.internal.poller;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;

/** Counters in heap memory. */
final class TestCounters {
    private TestCounters() {
    }

    static CountersManager create() {
        return new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(128 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(32 * 1024)));
    }
}
