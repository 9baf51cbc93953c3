package io.ringpoll.verify.torture.processes;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * The times after which a scene counts as failed, in nanoseconds. On other devices than loopback they are longer, and multiples
 * of the time that this JVM has taken to start: on an emulated CPU a JVM takes seconds for each thing that it does for the first
 * time, and minutes if the machine has other work.
 */
final class Patience {
    private static final boolean IS_LOOPBACK = Device.current().kind() == DeviceKind.LOOPBACK;
    private static final long STARTED_NS = TimeUnit.MILLISECONDS.toNanos(
        System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime());

    /** Of a process that waits for an event, or for completions. */
    static final long EVENT_NS = seconds(60, 150, 4);
    /** For the start of a process, until it is connected: of several at a time, while this one works. */
    static final long START_NS = seconds(120, 200, 6);
    /** For the end of a process: longer than it waits for events. */
    static final long END_NS = seconds(90, 200, 5);
    /** For all lives of a peer. */
    static final long LIVES_NS = seconds(200, 900, 30);

    private Patience() {
    }

    private static long seconds(final long onLoopback, final long elsewhere, final int starts) {
        return IS_LOOPBACK ? TimeUnit.SECONDS.toNanos(onLoopback) :
            Math.max(TimeUnit.SECONDS.toNanos(elsewhere), starts * STARTED_NS);
    }
}
