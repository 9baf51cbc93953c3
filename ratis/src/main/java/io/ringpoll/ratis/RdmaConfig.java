package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.get;
import static org.apache.ratis.conf.ConfUtils.getBoolean;
import static org.apache.ratis.conf.ConfUtils.getFile;
import static org.apache.ratis.conf.ConfUtils.getInt;
import static org.apache.ratis.conf.ConfUtils.getSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.getTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requireMax;
import static org.apache.ratis.conf.ConfUtils.requireMin;
import static org.apache.ratis.conf.ConfUtils.requireNonNegativeTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requirePositive;

import io.ringpoll.internal.ratis.KnownKeys;
import io.ringpoll.internal.rc.RdmaApi;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.conf.ReconfigurationBase;
import org.apache.ratis.conf.ReconfigurationStatus.PropertyChange;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the settings of {@link RdmaConfigKeys}, and logs them at debug level. */
final class RdmaConfig {
    private static final Logger LOGGER = LoggerFactory.getLogger(RdmaConfigKeys.class);
    private static final Consumer<String> LOG = LOGGER::debug;
    /** Unknown keys that this process has warned of: its servers and clients often have the same properties. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();
    private static final int CLOSE_TIMEOUT_MS = 10_000;
    /** For the headers of a message, as in the engine's gRPC transport. */
    private static final SizeInBytes HEADROOM = SizeInBytes.ONE_MB;
    private static final TimeDuration MOST_MILLISECONDS = TimeDuration.valueOf(24, TimeUnit.DAYS);
    private static final String USE_DURATION = "use a duration such as 10ms or 2s";

    private RdmaConfig() {
    }

    /**
     * Reads the configuration of a node.
     *
     * @throws IllegalArgumentException if a value is out of range; the message contains the key
     */
    static NodeConfig nodeConfig(final RaftProperties properties, final String name, final boolean countersFile) {
        final int bufferBytes = RdmaConfigKeys.bufferSize(properties).getSizeInt();
        final int credits = RdmaConfigKeys.credits(properties);
        final int connections = RdmaConfigKeys.connectionsMax(properties);
        final TimeDuration connectTimeout = RdmaConfigKeys.connectTimeout(properties);
        final int messageBytes = RdmaConfigKeys.messageSizeMax(properties).getSizeInt();
        final int cachedBytes = RdmaConfigKeys.regionCacheSize(properties).getSizeInt();
        return new NodeConfig(name, bufferBytes, credits, connections, messageBytes, cachedBytes,
            connectTimeout.toIntExact(TimeUnit.MILLISECONDS), CLOSE_TIMEOUT_MS, poller(properties), countersFile,
            bounds(properties), Access.OPEN);
    }

    /**
     * Checks all settings of a server, also those that are used later: by a leader, or for the first stream. Logs unknown keys.
     *
     * @throws IllegalArgumentException if a value is out of range, a message of the engine too long, or a secret cannot be read;
     *     the message contains the key
     */
    static void checkServer(final RaftProperties properties) {
        warnOfUnknownKeys(properties);
        api(properties);
        nodeConfig(properties, "", false).buffers();
        checkMessageSize(properties);
        checkAccess(properties, PeerRole.SERVER);
        RdmaConfigKeys.reconnectDelayMin(properties);
        RdmaConfigKeys.reconnectDelayMax(properties);
        RdmaConfigKeys.serverHost(properties);
        RdmaConfigKeys.serverPort(properties);
        RdmaConfigKeys.direct(properties);
        RdmaConfigKeys.countersFile(properties);
        RdmaAppendConfigKeys.requestsMax(properties);
        RdmaAppendConfigKeys.bytesMax(properties);
        RdmaStreamConfigKeys.window(properties);
        RdmaStreamConfigKeys.packetSize(properties);
        RdmaStreamConfigKeys.idleTimeout(properties);
    }

    /**
     * Checks the settings of a client before its first request, which it would repeat. Logs unknown keys.
     *
     * @throws IllegalArgumentException if a value is out of range, or a secret cannot be read; the message contains the key
     */
    static void checkClient(final RaftProperties properties) {
        warnOfUnknownKeys(properties);
        api(properties);
        nodeConfig(properties, "", false).buffers();
        RdmaConfigKeys.clientHost(properties);
        RdmaConfigKeys.countersFile(properties);
        checkAccess(properties, PeerRole.CLIENT);
    }

    /** Logs a warning for each key with the transport's prefix that is none of its keys, once in a process. */
    static void warnOfUnknownKeys(final RaftProperties properties) {
        // The engine lists its properties in no other public way.
        for (final PropertyChange setting : ReconfigurationBase.getChangedProperties(properties, new RaftProperties())) {
            final String key = setting.getProperty();
            KnownKeys.meantBy(key).filter(meant -> WARNED.add(key)).ifPresent(meant ->
                LOGGER.warn("{} has no effect: there is no such setting. The nearest one is {}", key, meant));
        }
    }

    private static void checkAccess(final RaftProperties properties, final PeerRole role) {
        try {
            access(properties, role, "");
        } catch (final IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static PeerBounds bounds(final RaftProperties properties) {
        final TimeDuration interval = RdmaConfigKeys.keepaliveInterval(properties);
        final TimeDuration timeout = RdmaConfigKeys.keepaliveTimeout(properties);
        if (timeout.compareTo(interval) <= 0) {
            throw new IllegalArgumentException(RdmaConfigKeys.KEEPALIVE_TIMEOUT_KEY + " = " + timeout + ": use more than " +
                RdmaConfigKeys.KEEPALIVE_INTERVAL_KEY + " = " + interval);
        }
        return new PeerBounds(interval.toIntExact(TimeUnit.MILLISECONDS), timeout.toIntExact(TimeUnit.MILLISECONDS),
            RdmaReplyConfigKeys.timeout(properties).toIntExact(TimeUnit.MILLISECONDS),
            RdmaConfigKeys.connectionsReserved(properties), RdmaConfigKeys.linkRequestsMax(properties),
            RdmaConfigKeys.linkBytesMax(properties).getSize(), RdmaConfigKeys.serverRequestsMax(properties),
            RdmaConfigKeys.serverBytesMax(properties).getSize(), RdmaReplyConfigKeys.bytesMax(properties).getSize(),
            RdmaConfigKeys.landingSizeMax(properties).getSize());
    }

    /**
     * Reads the identity of a node, and the peers that it accepts.
     *
     * @throws IOException if a secret cannot be read; the message contains the key
     */
    static Access access(final RaftProperties properties, final PeerRole role, final String id) throws IOException {
        return new Access(role, id, secret(RdmaConfigKeys.SECRET_FILE_KEY, RdmaConfigKeys.secretFile(properties)),
            role == PeerRole.SERVER ?
                secret(RdmaConfigKeys.SERVER_SECRET_FILE_KEY, RdmaConfigKeys.serverSecretFile(properties)) : null,
            allowed(properties));
    }

    private static AddressFilter allowed(final RaftProperties properties) {
        final String set = properties.get(RdmaConfigKeys.SERVER_ALLOWED_KEY);
        // As of a variable that is not set: a server that should be restricted would be open to all.
        if (set != null && set.isBlank()) {
            throw invalid(properties, RdmaConfigKeys.SERVER_ALLOWED_KEY,
                "name addresses or prefixes such as 10.0.0.0/8, or remove the setting to allow all", null);
        }
        try {
            return AddressFilter.of(RdmaConfigKeys.serverAllowed(properties));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(RdmaConfigKeys.SERVER_ALLOWED_KEY + ": " + e.getMessage(), e);
        }
    }

    private static Secret secret(final String key, final File file) throws IOException {
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
        final SizeInBytes max = RdmaConfigKeys.messageSizeMax(properties);
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
        final boolean shared = RdmaConfigKeys.pollerShared(properties);
        final HandlerThreads handlers = handlers(properties);
        if (shared && handlers != HandlerThreads.POLLER) {
            throw new IllegalArgumentException(
                RdmaConfigKeys.POLLER_SHARED_KEY + " = true: set " + RdmaConfigKeys.HANDLERS_KEY + " = poller");
        }
        return new PollerConfig(
            shared, RdmaConfigKeys.pollerCpu(properties),
            wait(RdmaConfigKeys.POLLER_IDLE_KEY, RdmaConfigKeys.pollerIdle(properties)),
            RdmaConfigKeys.pollerSpin(properties).toLong(TimeUnit.NANOSECONDS), handlers,
            wait(RdmaConfigKeys.HANDLER_WAIT_KEY, RdmaConfigKeys.handlerWait(properties)));
    }

    /**
     * The binding that makes the connections.
     *
     * @throws IllegalArgumentException if the value is none; the message contains the key
     */
    static RdmaApi api(final RaftProperties properties) {
        final String api = RdmaConfigKeys.api(properties);
        try {
            return RdmaApi.valueOf(constant(api));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(RdmaConfigKeys.API_KEY + " = " + api + ": use rpma or verbs", e);
        }
    }

    private static HandlerThreads handlers(final RaftProperties properties) {
        final String handlers = RdmaConfigKeys.handlers(properties);
        try {
            return HandlerThreads.valueOf(constant(handlers));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(
                RdmaConfigKeys.HANDLERS_KEY + " = " + handlers + ": use poller, one or parallel", e);
        }
    }

    private static WaitMode wait(final String key, final String wait) {
        try {
            return WaitMode.valueOf(constant(wait));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(key + " = " + wait + ": use block, sleep, yield or busy-spin", e);
        }
    }

    static String text(final RaftProperties properties, final String key, final String byDefault) {
        return get(properties::get, key, byDefault, LOG);
    }

    /** A host; null if there is no such setting. */
    static String host(final RaftProperties properties, final String key) {
        final String host = text(properties, key, null);
        // The name of no host, for which a resolver may return any address.
        if (host != null && host.isBlank()) {
            throw invalid(properties, key, "use an address or a host name, or remove the setting", null);
        }
        return host;
    }

    static boolean flag(final RaftProperties properties, final String key, final boolean byDefault) {
        final String value = properties.get(key);
        // The engine takes the default for any other text.
        if (value != null && !value.trim().matches("(?i)true|false")) {
            throw invalid(properties, key, "use true or false", null);
        }
        return getBoolean(properties::getBoolean, key, byDefault, LOG);
    }

    static int number(final RaftProperties properties, final String key, final int byDefault, final int min,
        final int max) {
        return parsed(properties, key, "use a number, " + min + " to " + max,
            () -> getInt(properties::getInt, key, byDefault, LOG, requireMin(min), requireMax(max)));
    }

    static TimeDuration duration(final RaftProperties properties, final String key, final TimeDuration byDefault) {
        return parsed(properties, key, USE_DURATION, () ->
            getTimeDuration(properties.getTimeDuration(byDefault.getUnit()), key, byDefault, LOG, requirePositive()));
    }

    static TimeDuration durationOrZero(final RaftProperties properties, final String key, final TimeDuration byDefault) {
        return parsed(properties, key, USE_DURATION, () -> getTimeDuration(
            properties.getTimeDuration(byDefault.getUnit()), key, byDefault, LOG, requireNonNegativeTimeDuration()));
    }

    /** A duration that is used in milliseconds, as an int: a shorter one would be 0. */
    static TimeDuration milliseconds(final RaftProperties properties, final String key, final TimeDuration byDefault) {
        final TimeDuration value = duration(properties, key, byDefault);
        if (value.compareTo(TimeDuration.ONE_MILLISECOND) < 0 || value.compareTo(MOST_MILLISECONDS) > 0) {
            throw invalid(properties, key, "use 1ms to 24d", null);
        }
        return value;
    }

    static File file(final RaftProperties properties, final String key) {
        return getFile(properties::getFile, key, null, LOG);
    }

    static SizeInBytes size(final RaftProperties properties, final String key, final SizeInBytes byDefault, final long min,
        final long max) {
        final String range = "use " + min + " to " + max + " bytes";
        final SizeInBytes size =
            parsed(properties, key, range, () -> getSizeInBytes(properties::getSizeInBytes, key, byDefault, LOG));
        if (size.getSize() < min || size.getSize() > max) {
            throw invalid(properties, key, range, null);
        }
        return size;
    }

    /** Reads a value with the engine's parser, whose exceptions may lack the key. */
    private static <T> T parsed(final RaftProperties properties, final String key, final String remedy,
        final Supplier<T> parser) {
        try {
            return parser.get();
        } catch (final RuntimeException e) {
            throw invalid(properties, key, remedy, e);
        }
    }

    private static IllegalArgumentException invalid(final RaftProperties properties, final String key, final String remedy,
        final RuntimeException cause) {
        return new IllegalArgumentException(key + " = " + properties.get(key) + ": " + remedy, cause);
    }

    private static String constant(final String value) {
        return value.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
