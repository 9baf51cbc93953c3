package io.ringpoll.internal.ratis;

import io.ringpoll.ratis.RdmaAppendConfigKeys;
import io.ringpoll.ratis.RdmaConfigKeys;
import io.ringpoll.ratis.RdmaReplyConfigKeys;
import io.ringpoll.ratis.RdmaStreamConfigKeys;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The keys of all settings of this transport. A key with its prefix that is none of them is probably misspelt: it has no effect,
 * and nothing else reports it.
 */
public final class KnownKeys {
    /** In the order of the interfaces that define them. */
    public static final List<String> ALL = List.of(
        RdmaConfigKeys.API_KEY,
        RdmaConfigKeys.SERVER_HOST_KEY,
        RdmaConfigKeys.SERVER_PORT_KEY,
        RdmaConfigKeys.CLIENT_HOST_KEY,
        RdmaConfigKeys.BUFFER_SIZE_KEY,
        RdmaConfigKeys.CREDITS_KEY,
        RdmaConfigKeys.CONNECTIONS_MAX_KEY,
        RdmaConfigKeys.CONNECTIONS_RESERVED_KEY,
        RdmaConfigKeys.LINK_REQUESTS_MAX_KEY,
        RdmaConfigKeys.LINK_BYTES_MAX_KEY,
        RdmaConfigKeys.SERVER_REQUESTS_MAX_KEY,
        RdmaConfigKeys.SERVER_BYTES_MAX_KEY,
        RdmaConfigKeys.LANDING_SIZE_MAX_KEY,
        RdmaConfigKeys.SECRET_FILE_KEY,
        RdmaConfigKeys.SERVER_SECRET_FILE_KEY,
        RdmaConfigKeys.SERVER_ALLOWED_KEY,
        RdmaConfigKeys.MESSAGE_SIZE_MAX_KEY,
        RdmaConfigKeys.REGION_CACHE_SIZE_KEY,
        RdmaConfigKeys.KEEPALIVE_INTERVAL_KEY,
        RdmaConfigKeys.KEEPALIVE_TIMEOUT_KEY,
        RdmaConfigKeys.CONNECT_TIMEOUT_KEY,
        RdmaConfigKeys.RECONNECT_DELAY_MIN_KEY,
        RdmaConfigKeys.RECONNECT_DELAY_MAX_KEY,
        RdmaConfigKeys.POLLER_SHARED_KEY,
        RdmaConfigKeys.POLLER_CPU_KEY,
        RdmaConfigKeys.POLLER_IDLE_KEY,
        RdmaConfigKeys.POLLER_SPIN_KEY,
        RdmaConfigKeys.HANDLERS_KEY,
        RdmaConfigKeys.HANDLER_WAIT_KEY,
        RdmaConfigKeys.DIRECT_KEY,
        RdmaConfigKeys.COUNTERS_FILE_KEY,
        RdmaAppendConfigKeys.REQUESTS_MAX_KEY,
        RdmaAppendConfigKeys.BYTES_MAX_KEY,
        RdmaReplyConfigKeys.BYTES_MAX_KEY,
        RdmaReplyConfigKeys.TIMEOUT_KEY,
        RdmaStreamConfigKeys.PACKET_SIZE_KEY,
        RdmaStreamConfigKeys.WINDOW_KEY,
        RdmaStreamConfigKeys.IDLE_TIMEOUT_KEY);

    private KnownKeys() {
    }

    /**
     * Finds the key that is probably meant by a misspelt one.
     *
     * @param key of any setting
     * @return the key with the fewest changed characters; empty if the key is one of {@link #ALL} or has another prefix
     */
    public static Optional<String> meantBy(final String key) {
        if (!key.startsWith(RdmaConfigKeys.PREFIX + ".") || ALL.contains(key)) {
            return Optional.empty();
        }
        return ALL.stream().min(Comparator.comparingInt(known -> distance(key, known)));
    }

    /** Characters to insert, remove or replace in order to turn one text into the other (Levenshtein). */
    private static int distance(final String one, final String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            final int[] next = new int[row.length];
            next[0] = i;
            for (int j = 1; j < row.length; j++) {
                final int replaced = row[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                next[j] = Math.min(replaced, 1 + Math.min(row[j], next[j - 1]));
            }
            row = next;
        }
        return row[other.length()];
    }
}
