package io.ringpoll.verify.process;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The memory of this process, by the counters of the kernel and the C library. Stateless. */
public final class ProcessMemory {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";
    /** struct mallinfo2 has ten fields of type size_t; the eighth is uordblks. */
    private static final int FIELDS = 10;
    private static final int IN_USE = 7;
    private static final Optional<MethodHandle> MALLINFO = mallinfo();

    private ProcessMemory() {
    }

    /**
     * The resident set size.
     *
     * @return bytes; -1 if the kernel does not report it
     */
    public static long residentBytes() {
        try (var lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith(RESIDENT))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024).findFirst().orElse(-1);
        } catch (final IOException unknown) {
            return -1;
        }
    }

    /**
     * The used bytes of the C heap: of librpma, the device and the JVM itself.
     *
     * @return bytes, by mallinfo2(3); -1 if the C library lacks this function
     */
    public static long mallocBytes() {
        if (MALLINFO.isEmpty()) {
            return -1;
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = (MemorySegment) MALLINFO.get().invokeExact((SegmentAllocator) arena);
            return result.getAtIndex(ValueLayout.JAVA_LONG, IN_USE);
        } catch (final RuntimeException | Error failed) {
            throw failed;
        } catch (final Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    @SuppressWarnings("restricted")
    private static Optional<MethodHandle> mallinfo() {
        final StructLayout struct = MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(FIELDS, ValueLayout.JAVA_LONG).withName("fields"));
        return Linker.nativeLinker().defaultLookup().find("mallinfo2")
            .map(function -> Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(struct)));
    }
}
