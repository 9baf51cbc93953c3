package io.ringpoll.internal.transport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Debug check of one poller: finds code of the engine or of an application that waits on a thread of the handlers, where it holds
 * up all connections. A thread of its own samples the handlers. The connection of a handler that has waited ends with an {@link
 * AssertionError}, which has the stack of the wait. The locks of this transport are not reported: nothing waits while it holds
 * them.
 *
 * <p>A wait is as long as the number of samples in which the thread waits in the same call, not as the time by the clock: where
 * there is no CPU for the threads of this process, or where all of them are stopped, there is none for the samples either.
 */
final class WaitCheck {
    /** System property that enables the check: the shortest wait that is reported, in milliseconds. */
    static final String PROPERTY = "ringpoll.ratis.wait.check.ms";

    private static final Logger LOG = LoggerFactory.getLogger(WaitCheck.class);
    private static final String OWN_PACKAGES = "io.ringpoll.";
    private static final String LIBRARIES = "org.apache.ratis.thirdparty.";
    /** After the first one in which a thread waits. */
    private static final int SAMPLES = 8;
    private static final int MOST_KEPT = 16;

    /** The last violations in this process. */
    private static final List<AssertionError> FOUND = new ArrayList<>();

    private final Duration interval;
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
        /** Number of samples after the first one in which it waits. */
        private int samples;
        /** Number of the last call that has waited: it is reported once. */
        private long reported;

        private Call() {
        }

        boolean isOfCurrentThread() {
            return thread == Thread.currentThread();
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
        private boolean sample() {
            final long current = number;
            final boolean isCandidate = (current & 1) == 1 && current != reported;
            final StackTraceElement[] stack = isCandidate && isWaiting() ? thread.getStackTrace() : null;
            if (stack == null || !isForeign(stack)) {
                sampled = 0;
            } else if (sampled != current) {
                sampled = current;
                samples = 0;
            } else if (++samples == SAMPLES && number == current) {
                final AssertionError found = new AssertionError(thread.getName() + " waits in a handler");
                found.setStackTrace(stack);
                reported = current;
                violation = found;
                keep(found);
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

        /** Whether the first frame outside the JDK, and the engine's libraries, is not of this transport. */
        private static boolean isForeign(final StackTraceElement[] stack) {
            for (final StackTraceElement frame : stack) {
                final boolean isJdk = frame.getModuleName() != null && frame.getModuleName().startsWith("java.");
                if (!isJdk && !frame.getClassName().startsWith(LIBRARIES)) {
                    return !frame.getClassName().startsWith(OWN_PACKAGES);
                }
            }
            return false;
        }
    }

    WaitCheck(final String name, final long limitNs) {
        interval = Duration.ofNanos(limitNs / SAMPLES);
        Thread.ofPlatform().daemon().name("wait-check-of-" + name).start(this::run);
    }

    /** The check of a poller; null unless the property is set. */
    static WaitCheck ofProperty(final String name) {
        final Long limitMs = Long.getLong(PROPERTY);
        return limitMs == null ? null : new WaitCheck(name, TimeUnit.MILLISECONDS.toNanos(limitMs));
    }

    /** The calls of the calling thread, which runs handlers. */
    Call ofCurrentThread() {
        return calls.stream().filter(Call::isOfCurrentThread).findAny().orElseGet(this::register);
    }

    private Call register() {
        final Call call = new Call();
        calls.add(call);
        return call;
    }

    private static void keep(final AssertionError found) {
        synchronized (FOUND) {
            if (FOUND.size() == MOST_KEPT) {
                FOUND.removeFirst();
            }
            FOUND.add(found);
        }
    }

    /** Removes the violations that all checks in this process have found, the last 16 of them. */
    static List<AssertionError> takeFound() {
        synchronized (FOUND) {
            final List<AssertionError> taken = List.copyOf(FOUND);
            FOUND.clear();
            return taken;
        }
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
            try {
                Thread.sleep(interval);
            } catch (final InterruptedException nobodyDoes) {
                return;
            }
            for (final Call call : calls) {
                if (call.sample()) {
                    violations++;
                }
            }
        }
    }
}
