package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.NativeResource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongToIntFunction;

/** An object of librpma, with the calls that all kinds of objects have in common: reading a property, and deletion. */
abstract class RpmaObject extends NativeResource {
    /** A function of an object, and of an address that it reads from or writes to. */
    @FunctionalInterface
    interface PropertyFunction {
        int call(long object, long address);
    }

    RpmaObject(final String name, final long address) {
        super(name, address);
    }

    /** Calls a function of this object and an address. */
    final void call(final String function, final PropertyFunction property, final long address) {
        final long object = enter();
        try {
            RpmaException.check(function, property.call(object, address));
        } finally {
            exit();
        }
    }

    /** Reads a property; the caller takes it from offset 0 of the returned scratch memory. */
    final CallState get(final String function, final PropertyFunction getter) {
        final CallState state = CallState.current();
        call(function, getter, state.scratch());
        return state;
    }

    /** Reads a descriptor, of the length that another property is. */
    final byte[] descriptor(final String sizeFunction, final PropertyFunction size, final String function,
        final PropertyFunction getter) {
        final long lengthBytes = get(sizeFunction, size).longAt(0);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment descriptor = arena.allocate(lengthBytes);
            call(function, getter, descriptor.address());
            return descriptor.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Calls a function that takes the address of a pointer to the object that it deletes; returns its result. */
    static int delete(final LongToIntFunction function, final long object) {
        final CallState state = CallState.current();
        final long pointer = state.scratch();
        state.longAt(0, object);
        LogSink.clearError();
        return function.applyAsInt(pointer);
    }
}
