package io.ringpoll.testing;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.lifecycle.HotCalls;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Measures the resources of the process that a leak would increase: file descriptors, C heap, objects of the device. */
public final class ProcessResources {
    private static final int OBJECT_KINDS = 10;
    private static final int LOOKS = 5;
    private static final int LOOK_MS = 100;
    private static final int FILE_LOOKS = 100;
    private static final int OBJECT_LOOKS = 20;

    private ProcessResources() {
    }

    /** Number of open file descriptors. */
    public static int fileDescriptors() {
        return new File("/proc/self/fd").list().length;
    }

    /**
     * Waits up to 10 seconds until at most {@code most} file descriptors are open. Returns the number of open ones, which can be
     * less than {@code most}: the garbage collector may close descriptors of earlier tests.
     */
    public static int fileDescriptorsDownTo(final int most) {
        int now = fileDescriptors();
        for (int i = 0; i < FILE_LOOKS && now > most; i++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MS));
            now = fileDescriptors();
        }
        return now;
    }

    /** Live objects of the loopback device and the binding's marks, by kind; empty counts on another device. */
    public static Map<String, Long> objects() {
        final Map<String, Long> objects = new TreeMap<>();
        objects.put("hot call marks", (long) HotCalls.registered());
        final Optional<MemorySegment> live = Libraries.current().ibverbs().find("ringpoll_loopback_live");
        if (live.isPresent()) {
            final MethodHandle handle = downcall(live.get(), FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
            for (int kind = 0; kind < OBJECT_KINDS; kind++) {
                objects.put("device object " + kind, call(handle, kind));
            }
        }
        return objects;
    }

    /**
     * Waits up to 2 seconds until the live objects are the expected ones: the device's threads release a closed connection with a
     * delay. Returns the live objects.
     */
    public static Map<String, Long> objectsBackTo(final Map<String, Long> expected) {
        Map<String, Long> now = objects();
        for (int i = 0; i < OBJECT_LOOKS && !now.equals(expected); i++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MS));
            now = objects();
        }
        return now;
    }

    /** Bytes of the C heap that are in use, as mallinfo2(3) counts them. */
    public static long heapBytes() {
        // struct mallinfo2 has ten fields of type size_t; the eighth is uordblks.
        final StructLayout struct = MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG).withName("fields"));
        final MethodHandle handle = downcall(Linker.nativeLinker().defaultLookup().find("mallinfo2").orElseThrow(),
            FunctionDescriptor.of(struct));
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = (MemorySegment) handle.invoke((SegmentAllocator) arena);
            return result.getAtIndex(ValueLayout.JAVA_LONG, 7);
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Bytes of the C heap in use after garbage collections, whose cleaners free native memory of Java objects. */
    public static long settledHeapBytes() throws InterruptedException {
        long smallest = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS; i++) {
            System.gc();
            Thread.sleep(LOOK_MS);
            smallest = Math.min(smallest, heapBytes());
        }
        return smallest;
    }

    private static long call(final MethodHandle handle, final int kind) {
        try {
            return (long) handle.invokeExact(kind);
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle downcall(final MemorySegment function, final FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(function, descriptor);
    }
}
