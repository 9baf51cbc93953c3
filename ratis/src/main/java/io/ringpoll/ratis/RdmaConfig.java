package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.get;
import static org.apache.ratis.conf.ConfUtils.getBoolean;
import static org.apache.ratis.conf.ConfUtils.getFile;
import static org.apache.ratis.conf.ConfUtils.getInt;
import static org.apache.ratis.conf.ConfUtils.getSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.getTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requireMax;
import static org.apache.ratis.conf.ConfUtils.requireMin;
import static org.apache.ratis.conf.ConfUtils.requireMinSizeInByte;
import static org.apache.ratis.conf.ConfUtils.requireNonNegativeTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requirePositive;

import io.ringpoll.internal.transport.Access;
import io.ringpoll.internal.transport.AddressFilter;
import io.ringpoll.internal.transport.HandlerThreads;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PeerBounds;
import io.ringpoll.internal.transport.PeerRole;
import io.ringpoll.internal.transport.PollerConfig;
import io.ringpoll.internal.transport.Secret;
import io.ringpoll.pipeline.WaitMode;
import java.io.File;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.LoggerFactory;

/** Reads the settings of {@link RdmaConfigKeys}, and logs them at debug level. */
final class RdmaConfig {
    private static final Consumer<String> LOG = LoggerFactory.getLogger(RdmaConfigKeys.class)::debug;
    private static final int CLOSE_TIMEOUT_MS = 10_000;
    /** For the headers of a message, as in the engine's gRPC transport. */
    private static final SizeInBytes HEADROOM = SizeInBytes.ONE_MB;

    private RdmaConfig() {
    }

    /** May be null. */
    static String serverHost(final RaftProperties properties) {
        return text(properties, RdmaConfigKeys.SERVER_HOST_KEY, null);
    }

    static int serverPort(final RaftProperties properties) {
        return number(properties, RdmaConfigKeys.SERVER_PORT_KEY, RdmaConfigKeys.SERVER_PORT_DEFAULT, 0, 65_535);
    }

    /** May be null. */
    static String clientHost(final RaftProperties properties) {
        return text(properties, RdmaConfigKeys.CLIENT_HOST_KEY, null);
    }

    static boolean direct(final RaftProperties properties) {
        return flag(properties, RdmaConfigKeys.DIRECT_KEY, RdmaConfigKeys.DIRECT_DEFAULT);
    }

    static boolean countersFile(final RaftProperties properties) {
        return flag(properties, RdmaConfigKeys.COUNTERS_FILE_KEY, RdmaConfigKeys.COUNTERS_FILE_DEFAULT);
    }

    static TimeDuration reconnectDelayMin(final RaftProperties properties) {
        return duration(properties, RdmaConfigKeys.RECONNECT_DELAY_MIN_KEY, RdmaConfigKeys.RECONNECT_DELAY_MIN_DEFAULT);
    }

    static TimeDuration reconnectDelayMax(final RaftProperties properties) {
        return duration(properties, RdmaConfigKeys.RECONNECT_DELAY_MAX_KEY, RdmaConfigKeys.RECONNECT_DELAY_MAX_DEFAULT);
    }

    /**
     * Reads the configuration of a node.
     *
     * @throws IllegalArgumentException if a value is out of range; the message contains the key
     */
    static NodeConfig nodeConfig(final RaftProperties properties, final String name, final boolean countersFile) {
        final int bufferBytes = size(properties, RdmaConfigKeys.BUFFER_SIZE_KEY, RdmaConfigKeys.BUFFER_SIZE_DEFAULT,
            NodeConfig.MIN_BUFFER_BYTES, 1 << 20);
        final int credits = number(properties, RdmaConfigKeys.CREDITS_KEY, RdmaConfigKeys.CREDITS_DEFAULT, 2, 4096);
        final int connections =
            number(properties, RdmaConfigKeys.CONNECTIONS_MAX_KEY, RdmaConfigKeys.CONNECTIONS_MAX_DEFAULT, 1, 4096);
        final TimeDuration connectTimeout =
            duration(properties, RdmaConfigKeys.CONNECT_TIMEOUT_KEY, RdmaConfigKeys.CONNECT_TIMEOUT_DEFAULT);
        final int messageBytes = size(properties, RdmaConfigKeys.MESSAGE_SIZE_MAX_KEY, RdmaConfigKeys.MESSAGE_SIZE_MAX_DEFAULT,
            bufferBytes, 1 << 30);
        final int cachedBytes = size(properties, RdmaConfigKeys.REGION_CACHE_SIZE_KEY, RdmaConfigKeys.REGION_CACHE_SIZE_DEFAULT,
            0, Integer.MAX_VALUE);
        return new NodeConfig(name, bufferBytes, credits, connections, messageBytes, cachedBytes,
            connectTimeout.toIntExact(TimeUnit.MILLISECONDS), CLOSE_TIMEOUT_MS, poller(properties), countersFile,
            bounds(properties, connections), Access.OPEN);
    }

    private static PeerBounds bounds(final RaftProperties properties, final int connections) {
        final int reserved = number(properties, RdmaConfigKeys.CONNECTIONS_RESERVED_KEY,
            Math.min(RdmaConfigKeys.CONNECTIONS_RESERVED_DEFAULT, connections / 2), 0, connections - 1);
        final TimeDuration interval =
            duration(properties, RdmaConfigKeys.KEEPALIVE_INTERVAL_KEY, RdmaConfigKeys.KEEPALIVE_INTERVAL_DEFAULT);
        final TimeDuration timeout =
            duration(properties, RdmaConfigKeys.KEEPALIVE_TIMEOUT_KEY, RdmaConfigKeys.KEEPALIVE_TIMEOUT_DEFAULT);
        if (timeout.compareTo(interval) <= 0) {
            throw new IllegalArgumentException(RdmaConfigKeys.KEEPALIVE_TIMEOUT_KEY + " = " + timeout + ": use more than " +
                RdmaConfigKeys.KEEPALIVE_INTERVAL_KEY + " = " + interval);
        }
        return new PeerBounds(interval.toIntExact(TimeUnit.MILLISECONDS), timeout.toIntExact(TimeUnit.MILLISECONDS),
            reserved,
            number(properties, RdmaConfigKeys.LINK_REQUESTS_MAX_KEY, RdmaConfigKeys.LINK_REQUESTS_MAX_DEFAULT, 1,
                Integer.MAX_VALUE),
            bytes(properties, RdmaConfigKeys.LINK_BYTES_MAX_KEY, RdmaConfigKeys.LINK_BYTES_MAX_DEFAULT),
            number(properties, RdmaConfigKeys.SERVER_REQUESTS_MAX_KEY, RdmaConfigKeys.SERVER_REQUESTS_MAX_DEFAULT, 1,
                Integer.MAX_VALUE),
            bytes(properties, RdmaConfigKeys.SERVER_BYTES_MAX_KEY, RdmaConfigKeys.SERVER_BYTES_MAX_DEFAULT),
            bytes(properties, RdmaConfigKeys.LANDING_SIZE_MAX_KEY, RdmaConfigKeys.LANDING_SIZE_MAX_DEFAULT));
    }

    /**
     * Reads the identity of a node, and the peers that it accepts.
     *
     * @throws IOException if a secret cannot be read; the message contains the key
     */
    static Access access(final RaftProperties properties, final PeerRole role, final String id) throws IOException {
        final String allowed = text(properties, RdmaConfigKeys.SERVER_ALLOWED_KEY, "");
        try {
            return new Access(role, id, secret(properties, RdmaConfigKeys.SECRET_FILE_KEY),
                role == PeerRole.SERVER ? secret(properties, RdmaConfigKeys.SERVER_SECRET_FILE_KEY) : null,
                AddressFilter.of(allowed));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(RdmaConfigKeys.SERVER_ALLOWED_KEY + ": " + e.getMessage(), e);
        }
    }

    private static Secret secret(final RaftProperties properties, final String key) throws IOException {
        final File file = getFile(properties::getFile, key, null, LOG);
        try {
            return file == null ? null : Secret.read(file.toPath());
        } catch (final IOException e) {
            throw new IOException(key + ": " + e.getMessage(), e);
        }
    }

    /**
     * Checks that each message that the engine's settings allow can be sent.
     *
     * @throws IllegalArgumentException otherwise; the message contains the keys
     */
    static void checkMessageSize(final RaftProperties properties) {
        final SizeInBytes max = getSizeInBytes(properties::getSizeInBytes, RdmaConfigKeys.MESSAGE_SIZE_MAX_KEY,
            RdmaConfigKeys.MESSAGE_SIZE_MAX_DEFAULT, LOG);
        checkRoom(max, RaftServerConfigKeys.Log.Appender.BUFFER_BYTE_LIMIT_KEY,
            RaftServerConfigKeys.Log.Appender.bufferByteLimit(properties));
        checkRoom(max, RaftServerConfigKeys.Log.Appender.SNAPSHOT_CHUNK_SIZE_MAX_KEY,
            RaftServerConfigKeys.Log.Appender.snapshotChunkSizeMax(properties));
    }

    private static void checkRoom(final SizeInBytes max, final String key, final SizeInBytes content) {
        if (max.getSize() - content.getSize() < HEADROOM.getSize()) {
            throw new IllegalArgumentException(RdmaConfigKeys.MESSAGE_SIZE_MAX_KEY + " = " + max + " must be " + HEADROOM +
                " larger than " + key + " = " + content);
        }
    }

    private static PollerConfig poller(final RaftProperties properties) {
        final boolean shared = flag(properties, RdmaConfigKeys.POLLER_SHARED_KEY, RdmaConfigKeys.POLLER_SHARED_DEFAULT);
        final int cpu =
            number(properties, RdmaConfigKeys.POLLER_CPU_KEY, RdmaConfigKeys.POLLER_CPU_DEFAULT, -1, Integer.MAX_VALUE);
        final TimeDuration spin = getTimeDuration(properties.getTimeDuration(RdmaConfigKeys.POLLER_SPIN_DEFAULT.getUnit()),
            RdmaConfigKeys.POLLER_SPIN_KEY, RdmaConfigKeys.POLLER_SPIN_DEFAULT, LOG, requireNonNegativeTimeDuration());
        final HandlerThreads handlers = handlers(properties);
        if (shared && handlers != HandlerThreads.POLLER) {
            throw new IllegalArgumentException(
                RdmaConfigKeys.POLLER_SHARED_KEY + " = true: set " + RdmaConfigKeys.HANDLERS_KEY + " = poller");
        }
        return new PollerConfig(
            shared, cpu, wait(properties, RdmaConfigKeys.POLLER_IDLE_KEY, RdmaConfigKeys.POLLER_IDLE_DEFAULT),
            spin.toLong(TimeUnit.NANOSECONDS), handlers,
            wait(properties, RdmaConfigKeys.HANDLER_WAIT_KEY, RdmaConfigKeys.HANDLER_WAIT_DEFAULT));
    }

    private static HandlerThreads handlers(final RaftProperties properties) {
        final String handlers = text(properties, RdmaConfigKeys.HANDLERS_KEY, RdmaConfigKeys.HANDLERS_DEFAULT);
        try {
            return HandlerThreads.valueOf(constant(handlers));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(
                RdmaConfigKeys.HANDLERS_KEY + " = " + handlers + ": use poller, one or parallel", e);
        }
    }

    private static WaitMode wait(final RaftProperties properties, final String key, final String byDefault) {
        final String wait = text(properties, key, byDefault);
        try {
            return WaitMode.valueOf(constant(wait));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(key + " = " + wait + ": use block, sleep, yield or busy-spin", e);
        }
    }

    private static String text(final RaftProperties properties, final String key, final String byDefault) {
        return get(properties::get, key, byDefault, LOG);
    }

    private static boolean flag(final RaftProperties properties, final String key, final boolean byDefault) {
        return getBoolean(properties::getBoolean, key, byDefault, LOG);
    }

    private static int number(final RaftProperties properties, final String key, final int byDefault, final int min,
        final int max) {
        return getInt(properties::getInt, key, byDefault, LOG, requireMin(min), requireMax(max));
    }

    private static TimeDuration duration(final RaftProperties properties, final String key, final TimeDuration byDefault) {
        return getTimeDuration(properties.getTimeDuration(byDefault.getUnit()), key, byDefault, LOG, requirePositive());
    }

    private static long bytes(final RaftProperties properties, final String key, final SizeInBytes byDefault) {
        return getSizeInBytes(properties::getSizeInBytes, key, byDefault, LOG, requireMinSizeInByte(SizeInBytes.valueOf(1)))
            .getSize();
    }

    private static int size(final RaftProperties properties, final String key, final SizeInBytes byDefault, final long min,
        final long max) {
        final SizeInBytes size = getSizeInBytes(properties::getSizeInBytes, key, byDefault, LOG);
        if (size.getSize() < min || size.getSize() > max) {
            throw new IllegalArgumentException(key + " = " + size + ": use " + min + " to " + max + " bytes");
        }
        return size.getSizeInt();
    }

    private static String constant(final String value) {
        return value.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
