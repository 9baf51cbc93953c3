package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.setSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.setTimeDuration;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** The settings of replies that peers do not read in the engine's {@link RaftProperties}, as {@link RdmaConfigKeys}. */
public interface RdmaReplyConfigKeys {
    /** Prefix of all keys. */
    String PREFIX = RdmaConfigKeys.PREFIX + ".reply";

    /**
     * Memory of a server for the long replies to all clients that have not been read: over it, a reply is refused with a
     * {@code ResourceUnavailableException}, which the engine's client retries. A single reply is always permitted.
     */
    String BYTES_MAX_KEY = PREFIX + ".bytes.max";
    /** Default of {@link #BYTES_MAX_KEY}. */
    SizeInBytes BYTES_MAX_DEFAULT = SizeInBytes.valueOf("512MB");
    /** Time for which a reply may wait for a peer, for a credit or to be read, after which the connection of the peer ends. */
    String TIMEOUT_KEY = PREFIX + ".timeout";
    /** Default of {@link #TIMEOUT_KEY}. */
    TimeDuration TIMEOUT_DEFAULT = TimeDuration.valueOf(60, TimeUnit.SECONDS);

    /**
     * Reads {@link #BYTES_MAX_KEY}.
     * @param properties of the engine
     * @return the setting
     */
    static SizeInBytes bytesMax(final RaftProperties properties) {
        return RdmaConfig.size(properties, BYTES_MAX_KEY, BYTES_MAX_DEFAULT, 1, Long.MAX_VALUE);
    }

    /**
     * Reads {@link #TIMEOUT_KEY}: 1 ms to 24 days.
     * @param properties of the engine
     * @return the setting
     */
    static TimeDuration timeout(final RaftProperties properties) {
        return RdmaConfig.milliseconds(properties, TIMEOUT_KEY, TIMEOUT_DEFAULT);
    }

    /**
     * Sets {@link #BYTES_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setBytesMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, BYTES_MAX_KEY, value);
    }

    /**
     * Sets {@link #TIMEOUT_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setTimeout(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, TIMEOUT_KEY, value);
    }
}
