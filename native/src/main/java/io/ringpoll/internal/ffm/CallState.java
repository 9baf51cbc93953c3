package io.ringpoll.internal.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Per-thread memory for calls off the hot path: captured errno, and results that are returned by pointer.
 *
 * <p>Owned by the thread that obtained it. The results of a call are valid until the next call of that thread.
 */
public final class CallState {
    /** Size of {@link #scratch()} in bytes. */
    public static final int SCRATCH_BYTES = 64;

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final int ERRNO_OFFSET = (int) LAYOUT.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<CallState> CURRENT = ThreadLocal.withInitial(CallState::new);

    private final MemorySegment errno;
    private final UnsafeBuffer errnoBuffer;
    private final UnsafeBuffer scratch;

    private CallState() {
        final Arena arena = Arena.ofAuto();
        errno = arena.allocate(LAYOUT);
        errnoBuffer = new UnsafeBuffer(errno.asByteBuffer());
        scratch = new UnsafeBuffer(arena.allocate(SCRATCH_BYTES, Long.BYTES).asByteBuffer());
    }

    /**
     * The calling thread's state; allocated at its first use.
     *
     * @return always the same on the same thread
     */
    public static CallState current() {
        return CURRENT.get();
    }

    /**
     * Where a handle made by {@link NativeLibrary#capturing} stores errno.
     *
     * @return the segment to pass as that handle's first argument
     */
    public MemorySegment errnoSegment() {
        return errno;
    }

    /**
     * The errno of this thread's latest capturing call.
     *
     * @return a value of errno(3); meaningful only if the call failed
     */
    public int errno() {
        return errnoBuffer.getInt(ERRNO_OFFSET);
    }

    /**
     * Zeroed memory for results by pointer.
     *
     * @return the address of {@value #SCRATCH_BYTES} bytes, 8-byte aligned
     */
    public long scratch() {
        scratch.setMemory(0, SCRATCH_BYTES, (byte) 0);
        return scratch.addressOffset();
    }

    /**
     * Reads a pointer or {@code size_t} that a call has left.
     *
     * @param offset in the scratch memory
     * @return 8 bytes
     */
    public long longAt(final int offset) {
        return scratch.getLong(offset);
    }

    /**
     * Reads an {@code int} or {@code uint32_t} that a call has left.
     *
     * @param offset in the scratch memory
     * @return 4 bytes
     */
    public int intAt(final int offset) {
        return scratch.getInt(offset);
    }

    /**
     * Reads a {@code bool} or {@code uint8_t} that a call has left.
     *
     * @param offset in the scratch memory
     * @return 1 byte
     */
    public byte byteAt(final int offset) {
        return scratch.getByte(offset);
    }

    /**
     * Sets a pointer that a call will read, and maybe replace.
     *
     * @param offset in the scratch memory
     * @param value  8 bytes
     */
    public void longAt(final int offset, final long value) {
        scratch.putLong(offset, value);
    }
}
