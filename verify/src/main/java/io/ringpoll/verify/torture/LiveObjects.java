package io.ringpoll.verify.torture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.TreeMap;

/**
 * The numbers of live objects of the loopback device, by kind: leaked objects show here.
 *
 * <p>Stateless.
 */
public final class LiveObjects {
    private static final NativeLibrary DEVICE = Libraries.current().ibverbs();
    private static final MethodHandle ringpoll_loopback_live$mh =
        DEVICE.plain("ringpoll_loopback_live", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    private static final MethodHandle ringpoll_loopback_live_name$mh =
        DEVICE.plain("ringpoll_loopback_live_name", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    private LiveObjects() {
    }

    /**
     * Counts the objects.
     *
     * @return by kind; only on the loopback device
     */
    public static Map<String, Long> count() {
        final Map<String, Long> counts = new TreeMap<>();
        try {
            long live = (long) ringpoll_loopback_live$mh.invokeExact(0);
            for (int kind = 0; live >= 0; kind++) {
                counts.put(Memory.stringAt((long) ringpoll_loopback_live_name$mh.invokeExact(kind)), live);
                live = (long) ringpoll_loopback_live$mh.invokeExact(kind + 1);
            }
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
        return counts;
    }
}
