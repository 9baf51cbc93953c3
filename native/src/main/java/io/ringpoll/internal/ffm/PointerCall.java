package io.ringpoll.internal.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls of a short, non-blocking function that is known by its address alone, as those of a device are: libibverbs finds them in
 * the device's context.
 *
 * <p>Most processes use devices of one kind, so all calls are of one function. Its address is compiled into the callers: without
 * that, each call checks and unpacks the segment with the address. Calls of other functions compare it and do that. Thread-safe.
 */
public final class PointerCall {
    private static final MethodHandle IS_SAME;

    static {
        try {
            IS_SAME = MethodHandles.lookup().findStatic(PointerCall.class, "isSame",
                MethodType.methodType(boolean.class, MemorySegment.class, MemorySegment.class));
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final FunctionDescriptor descriptor;
    private final MutableCallSite site;
    private final Map<Long, MemorySegment> functions = new HashMap<>();

    /**
     * Creates the calls of functions of one type.
     *
     * @param descriptor the functions' parameters and result
     */
    public PointerCall(final FunctionDescriptor descriptor) {
        this.descriptor = descriptor;
        site = new MutableCallSite(NativeLibrary.criticalPointer(descriptor));
    }

    /**
     * The handle of the calls, for a {@code static final} field.
     *
     * @return its leading parameters are a {@link CallTurn} and the function, which is one of {@link #function}
     */
    public MethodHandle handle() {
        return site.dynamicInvoker();
    }

    /**
     * The function at an address, for the handle. The first one becomes the one whose calls are cheap.
     *
     * @param address of the function
     * @return the same for the same address
     */
    public synchronized MemorySegment function(final long address) {
        final MemorySegment present = functions.get(address);
        if (present != null) {
            return present;
        }
        final MemorySegment function = MemorySegment.ofAddress(address);
        if (functions.isEmpty()) {
            expect(function);
        }
        functions.put(address, function);
        return function;
    }

    private void expect(final MemorySegment function) {
        final MethodHandle known =
            MethodHandles.dropArguments(NativeLibrary.criticalOf(function, descriptor), 0, MemorySegment.class);
        final MethodHandle critical =
            MethodHandles.guardWithTest(IS_SAME.bindTo(function), known, NativeLibrary.criticalOf(descriptor));
        // One plain call for all functions: each one that is compiled in place makes its caller longer.
        site.setTarget(CallTurn.select(NativeLibrary.plainPointer(descriptor), critical));
    }

    private static boolean isSame(final MemorySegment expected, final MemorySegment function) {
        return function == expected;
    }
}
