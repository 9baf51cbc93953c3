package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.setSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.setTimeDuration;

import io.ringpoll.internal.transport.StreamPacket;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * The settings of data streams in the engine's {@link RaftProperties}, as {@link RdmaConfigKeys}. The engine's
 * {@code raft.client.data-stream.outstanding.requests.max} and {@code raft.client.data-stream.request.timeout} apply as well.
 */
public interface RdmaStreamConfigKeys {
    /** Prefix of all keys. */
    String PREFIX = RdmaConfigKeys.PREFIX + ".stream";

    /** Maximum length of the data that is transferred at once: longer writes are divided. */
    String PACKET_SIZE_KEY = PREFIX + ".packet.size";
    /** Default of {@link #PACKET_SIZE_KEY}. */
    SizeInBytes PACKET_SIZE_DEFAULT = SizeInBytes.ONE_MB;
    /**
     * Data without reply of a client, and of a server to each of its successors: the writer waits. At most
     * {@code raft.rdma.link.bytes.max}. A single packet is always permitted.
     */
    String WINDOW_KEY = PREFIX + ".window";
    /** Default of {@link #WINDOW_KEY}. */
    SizeInBytes WINDOW_DEFAULT = SizeInBytes.valueOf("16MB");
    /**
     * Time without a packet after which a server ends a stream, and time after the close of a stream after which it is cleaned up
     * if no log entry refers to it.
     */
    String IDLE_TIMEOUT_KEY = PREFIX + ".idle.timeout";
    /** Default of {@link #IDLE_TIMEOUT_KEY}. */
    TimeDuration IDLE_TIMEOUT_DEFAULT = TimeDuration.valueOf(10, TimeUnit.MINUTES);

    /**
     * Reads {@link #PACKET_SIZE_KEY}: 1 KB to {@code raft.rdma.message.size.max}, less the trailer of a packet.
     * @param properties of the engine
     * @return the setting
     */
    static SizeInBytes packetSize(final RaftProperties properties) {
        final long most = RdmaConfigKeys.messageSizeMax(properties).getSize() - StreamPacket.TRAILER_BYTES;
        return RdmaConfig.size(properties, PACKET_SIZE_KEY, PACKET_SIZE_DEFAULT, 1 << 10, most);
    }

    /**
     * Reads {@link #WINDOW_KEY}.
     * @param properties of the engine
     * @return the setting
     */
    static SizeInBytes window(final RaftProperties properties) {
        final long most = RdmaConfigKeys.linkBytesMax(properties).getSize();
        // A lower bound of a connection alone must not invalidate the default.
        final SizeInBytes byDefault = most < WINDOW_DEFAULT.getSize() ? SizeInBytes.valueOf(most) : WINDOW_DEFAULT;
        return RdmaConfig.size(properties, WINDOW_KEY, byDefault, 1, most);
    }

    /**
     * Reads {@link #IDLE_TIMEOUT_KEY}.
     * @param properties of the engine
     * @return the setting
     */
    static TimeDuration idleTimeout(final RaftProperties properties) {
        return RdmaConfig.duration(properties, IDLE_TIMEOUT_KEY, IDLE_TIMEOUT_DEFAULT);
    }

    /**
     * Sets {@link #PACKET_SIZE_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setPacketSize(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, PACKET_SIZE_KEY, value);
    }

    /**
     * Sets {@link #WINDOW_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setWindow(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, WINDOW_KEY, value);
    }

    /**
     * Sets {@link #IDLE_TIMEOUT_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setIdleTimeout(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, IDLE_TIMEOUT_KEY, value);
    }
}
