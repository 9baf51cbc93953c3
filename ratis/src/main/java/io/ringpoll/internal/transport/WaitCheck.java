package io.ringpoll.internal.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Debug check of one poller: finds code of the engine or of an application that waits on a thread of the handlers, where it holds
 * up all connections. A thread of its own samples the handlers. The connection of a handler that has waited ends with an {@link
 * AssertionError}, which has the stack of the wait. The locks of this transport are not reported: nothing waits while it holds
 * them.
 */
final class WaitCheck {
    /** System property that enables the check: the shortest wait that is reported, in milliseconds. */
    static final String PROPERTY = "ringpoll.ratis.wait.check.ms";

    private static final Logger LOG = LoggerFactory.getLogger(WaitCheck.class);
    private static final String OWN_PACKAGES = "io.ringpoll.";
    private static final int SAMPLES = 4;

    private final long limitNs;
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private volatile int violations;
    private volatile boolean ended;

    /** The current call of one handler's thread. */
    static final class Call {
        private final Thread thread = Thread.currentThread();
        /** Number of the call, odd while it runs. */
        private volatile long number;
        private volatile AssertionError violation;
        private long sampled;
        private long waitingSinceNs;

        private Call() {
        }

        /** Called before a handler is called. */
        void enter() {
            number++;
        }

        /** Called when a handler returns; returns null unless it has waited. */
        AssertionError exit() {
            number++;
            final AssertionError found = violation;
            if (found != null) {
                violation = null;
            }
            return found;
        }

        /** Looks for a wait; returns true if one has been found. */
        private boolean sample(final long nowNs, final long limitNs) {
            final long current = number;
            final StackTraceElement[] stack = (current & 1) == 1 && isWaiting() ? thread.getStackTrace() : null;
            if (stack == null || !isForeign(stack)) {
                sampled = 0;
            } else if (sampled != current) {
                sampled = current;
                waitingSinceNs = nowNs;
            } else if (nowNs - waitingSinceNs >= limitNs && violation == null && number == current) {
                final AssertionError found = new AssertionError(thread.getName() + " waits in a handler");
                found.setStackTrace(stack);
                violation = found;
                LOG.error("a handler waits", found);
                return true;
            }
            return false;
        }

        private boolean isWaiting() {
            return switch (thread.getState()) {
                case BLOCKED, WAITING, TIMED_WAITING -> true;
                default -> false;
            };
        }

        /** Whether the first frame outside the JDK is not of this transport. */
        private static boolean isForeign(final StackTraceElement[] stack) {
            for (final StackTraceElement frame : stack) {
                if (frame.getModuleName() == null || !frame.getModuleName().startsWith("java.")) {
                    return !frame.getClassName().startsWith(OWN_PACKAGES);
                }
            }
            return false;
        }
    }

    WaitCheck(final String name, final long limitNs) {
        this.limitNs = limitNs;
        Thread.ofPlatform().daemon().name("wait-check-of-" + name).start(this::run);
    }

    /** The check of a poller; null unless the property is set. */
    static WaitCheck ofProperty(final String name) {
        final Long limitMs = Long.getLong(PROPERTY);
        return limitMs == null ? null : new WaitCheck(name, TimeUnit.MILLISECONDS.toNanos(limitMs));
    }

    /** Registers the calling thread, which runs handlers. */
    Call register() {
        final Call call = new Call();
        calls.add(call);
        return call;
    }

    /** Number of waits found. */
    int violations() {
        return violations;
    }

    /** Ends the check. */
    void end() {
        ended = true;
    }

    private void run() {
        while (!ended) {
            LockSupport.parkNanos(limitNs / SAMPLES);
            final long nowNs = System.nanoTime();
            for (final Call call : calls) {
                if (call.sample(nowNs, limitNs)) {
                    violations++;
                }
            }
        }
    }
}
