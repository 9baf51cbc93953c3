package io.ringpoll.internal.rc;

import java.lang.foreign.MemorySegment;

/** Registered memory of this process. Any thread may use it; close it when no work request uses it any more. */
public abstract class RcMemory extends RcResource {
    RcMemory() {
    }

    /**
     * The memory itself.
     *
     * @return the segment that was registered
     */
    public abstract MemorySegment memory();

    /**
     * The description by which the other side accesses it, see {@link RcPeer#remote}.
     *
     * @return a new array, in librpma's format
     */
    public abstract byte[] descriptor();

    /**
     * The descriptor of a region of another length at the same place: an access behind the real end is refused by the device.
     *
     * @param lengthBytes the stated length
     * @return a new array
     */
    public abstract byte[] descriptorOfLength(long lengthBytes);

    /**
     * Whether this is closed.
     *
     * @return false until then
     */
    public abstract boolean isClosed();

    /**
     * The address of the memory.
     *
     * @return of its first byte
     */
    public final long memoryAddress() {
        return memory().address();
    }

    /**
     * The length of the region.
     *
     * @return bytes
     */
    public final long lengthBytes() {
        return memory().byteSize();
    }
}
