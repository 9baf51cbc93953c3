package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.setInt;
import static org.apache.ratis.conf.ConfUtils.setSizeInBytes;

import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;

/** The settings of a leader's append requests in the engine's {@link RaftProperties}, as {@link RdmaConfigKeys}. */
public interface RdmaAppendConfigKeys {
    /** Prefix of all keys. */
    String PREFIX = RdmaConfigKeys.PREFIX + ".append";

    /**
     * Requests with entries that a leader sends to a follower before the reply to the first; 1 waits for each reply. Heartbeats
     * are not counted.
     */
    String REQUESTS_MAX_KEY = PREFIX + ".requests.max";
    /** Default of {@link #REQUESTS_MAX_KEY}. */
    int REQUESTS_MAX_DEFAULT = 1;
    /** Length of these requests: another one is sent while they are shorter. A single request is always permitted. */
    String BYTES_MAX_KEY = PREFIX + ".bytes.max";
    /** Default of {@link #BYTES_MAX_KEY}. */
    SizeInBytes BYTES_MAX_DEFAULT = SizeInBytes.valueOf("8MB");

    /**
     * Reads {@link #REQUESTS_MAX_KEY}: 1 to 1024.
     * @param properties of the engine
     * @return the setting
     */
    static int requestsMax(final RaftProperties properties) {
        return RdmaConfig.number(properties, REQUESTS_MAX_KEY, REQUESTS_MAX_DEFAULT, 1, 1024);
    }

    /**
     * Reads {@link #BYTES_MAX_KEY}.
     * @param properties of the engine
     * @return the setting
     */
    static SizeInBytes bytesMax(final RaftProperties properties) {
        return RdmaConfig.size(properties, BYTES_MAX_KEY, BYTES_MAX_DEFAULT, 1, Long.MAX_VALUE);
    }

    /**
     * Sets {@link #REQUESTS_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setRequestsMax(final RaftProperties properties, final int value) {
        setInt(properties::setInt, REQUESTS_MAX_KEY, value);
    }

    /**
     * Sets {@link #BYTES_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setBytesMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, BYTES_MAX_KEY, value);
    }
}
