package io.ringpoll.verify.torture.processes;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.util.concurrent.TimeUnit;

/**
 * The times after which a scene counts as failed, in nanoseconds. They are longer on other devices than loopback: on the emulated
 * CPUs of the Soft-RoCE guest a JVM takes seconds for each thing that it does for the first time.
 */
final class Patience {
    private static final boolean IS_LOOPBACK = Device.current().kind() == DeviceKind.LOOPBACK;

    /** Of a process that waits for an event, or for completions. */
    static final long EVENT_NS = seconds(60, 150);
    /** For the start of a process, until it is connected. */
    static final long START_NS = seconds(120, 200);
    /** For the end of a process: longer than it waits for events. */
    static final long END_NS = seconds(90, 200);
    /** For all lives of a peer. */
    static final long LIVES_NS = seconds(200, 900);

    private Patience() {
    }

    private static long seconds(final long onLoopback, final long elsewhere) {
        return TimeUnit.SECONDS.toNanos(IS_LOOPBACK ? onLoopback : elsewhere);
    }
}
