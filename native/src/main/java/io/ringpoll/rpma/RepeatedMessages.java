package io.ringpoll.rpma;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Counts equal messages, so that the 1st, 2nd, 4th, 8th one and so on is logged. A count ends after a minute without the message,
 * or when {@value #MOST} other ones have occurred since. Belongs to one thread at a time.
 */
final class RepeatedMessages {
    static final int MOST = 128;
    static final long QUIET_NS = TimeUnit.MINUTES.toNanos(1);

    /** In the order of their latest occurrences. */
    private final Map<String, Count> counts = new LinkedHashMap<>(2 * MOST, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(final Map.Entry<String, Count> eldest) {
            return size() > MOST;
        }
    };

    private static final class Count {
        private long times;
        private long latestNs;
    }

    /**
     * Counts a message.
     *
     * @param message with its place in the source
     * @param nowNs   the time, in nanoseconds
     * @return how often it has occurred; 0 if it is not to be logged this time
     */
    long timesToLog(final String message, final long nowNs) {
        final Count count = counts.computeIfAbsent(message, first -> new Count());
        count.times = count.times > 0 && nowNs - count.latestNs > QUIET_NS ? 1 : count.times + 1;
        count.latestNs = nowNs;
        return Long.bitCount(count.times) == 1 ? count.times : 0;
    }
}
