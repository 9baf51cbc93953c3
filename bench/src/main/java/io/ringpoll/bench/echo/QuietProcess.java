package io.ringpoll.bench.echo;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits until this process uses almost no CPU: between turns only its JVM does, to compile and to collect garbage. */
final class QuietProcess {
    private static final OperatingSystemMXBean PROCESS =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long QUIET_NS = CHECK_NS / 10;
    private static final int MOST_LOOKS = 200;

    private QuietProcess() {
    }

    /** Waits, at most some seconds: a turn in which the JVM takes a CPU is dropped anyway. */
    static void await() {
        long before = PROCESS.getProcessCpuTime();
        for (int look = 0; look < MOST_LOOKS; look++) {
            LockSupport.parkNanos(CHECK_NS);
            final long now = PROCESS.getProcessCpuTime();
            if (now - before < QUIET_NS) {
                return;
            }
            before = now;
        }
    }
}
