package io.ringpoll.testing;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** Lets one call into the loopback device fail: {@code ringpoll_loopback.h} lists the counted functions. */
public final class CallFault {
    private static final NativeLibrary DEVICE = Libraries.current().ibverbs();
    private static final MethodHandle FAIL_CALL = DEVICE.plain("ringpoll_loopback_fail_call",
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle FAILED_CALL =
        DEVICE.plain("ringpoll_loopback_failed_call", FunctionDescriptor.of(ValueLayout.JAVA_LONG));

    private CallFault() {
    }

    /** Lets the n-th call from now fail; 0 lets none fail. */
    public static void plan(final int n, final int errno) {
        try {
            if ((int) FAIL_CALL.invokeExact(n, errno) != 0) {
                throw new IllegalArgumentException("call " + n + ", errno " + errno);
            }
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** The call that has failed by the latest plan. */
    public static Optional<String> failed() {
        try {
            final long name = (long) FAILED_CALL.invokeExact();
            return name == 0 ? Optional.empty() : Optional.of(Memory.stringAt(name));
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }
}
