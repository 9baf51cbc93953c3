package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.get;
import static org.apache.ratis.conf.ConfUtils.getBoolean;
import static org.apache.ratis.conf.ConfUtils.getInt;
import static org.apache.ratis.conf.ConfUtils.getSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.getTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requireMax;
import static org.apache.ratis.conf.ConfUtils.requireMin;
import static org.apache.ratis.conf.ConfUtils.requireNonNegativeTimeDuration;
import static org.apache.ratis.conf.ConfUtils.requirePositive;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.ratis.transport.HandlerThreads;
import io.ringpoll.ratis.transport.NodeConfig;
import io.ringpoll.ratis.transport.PollerConfig;
import io.ringpoll.ratis.transport.PollerIdle;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transport's settings in the engine's {@link RaftProperties}. The two sides of a connection may differ in every setting.
 */
public interface RdmaConfigKeys {
    /** Prefix of all keys. */
    String PREFIX = "raft.rdma";

    /** Address of the server's RDMA device; the default is that of the first interface with such a device. */
    String SERVER_HOST_KEY = PREFIX + ".server.host";
    /** Port of a server; 0 selects a free port. RDMA ports are a namespace separate from TCP's. */
    String SERVER_PORT_KEY = PREFIX + ".server.port";
    /** Default of {@link #SERVER_PORT_KEY}. */
    int SERVER_PORT_DEFAULT = 0;
    /** Address of a client's RDMA device; the default is the device that reaches the first server. */
    String CLIENT_HOST_KEY = PREFIX + ".client.host";

    /** Length of a buffer. Longer messages are fetched by an RDMA read. */
    String BUFFER_SIZE_KEY = PREFIX + ".buffer.size";
    /** Default of {@link #BUFFER_SIZE_KEY}. */
    SizeInBytes BUFFER_SIZE_DEFAULT = SizeInBytes.valueOf("16KB");
    /** Number of frames that each peer may have in flight to this node. */
    String CREDITS_KEY = PREFIX + ".credits";
    /** Default of {@link #CREDITS_KEY}. */
    int CREDITS_DEFAULT = 32;
    /** Maximum number of connections of a server or client, in both directions. */
    String CONNECTIONS_MAX_KEY = PREFIX + ".connections.max";
    /** Default of {@link #CONNECTIONS_MAX_KEY}. */
    int CONNECTIONS_MAX_DEFAULT = 128;
    /** Maximum length of a message; the engine's limits for entries and snapshot chunks must be lower. */
    String MESSAGE_SIZE_MAX_KEY = PREFIX + ".message.size.max";
    /** Default of {@link #MESSAGE_SIZE_MAX_KEY}. */
    SizeInBytes MESSAGE_SIZE_MAX_DEFAULT = SizeInBytes.valueOf("64MB");
    /** Unused memory for long messages that remains registered, per direction. */
    String REGION_CACHE_SIZE_KEY = PREFIX + ".region.cache.size";
    /** Default of {@link #REGION_CACHE_SIZE_KEY}. */
    SizeInBytes REGION_CACHE_SIZE_DEFAULT = SizeInBytes.valueOf("32MB");

    /** Time-out of a connect. */
    String CONNECT_TIMEOUT_KEY = PREFIX + ".connect.timeout";
    /** Default of {@link #CONNECT_TIMEOUT_KEY}. */
    TimeDuration CONNECT_TIMEOUT_DEFAULT = TimeDuration.valueOf(2, TimeUnit.SECONDS);
    /** Delay after the first failed connect; doubles with each further failure. */
    String RECONNECT_DELAY_MIN_KEY = PREFIX + ".reconnect.delay.min";
    /** Default of {@link #RECONNECT_DELAY_MIN_KEY}. */
    TimeDuration RECONNECT_DELAY_MIN_DEFAULT = TimeDuration.valueOf(10, TimeUnit.MILLISECONDS);
    /** Maximum delay between two connects. */
    String RECONNECT_DELAY_MAX_KEY = PREFIX + ".reconnect.delay.max";
    /** Default of {@link #RECONNECT_DELAY_MAX_KEY}. */
    TimeDuration RECONNECT_DELAY_MAX_DEFAULT = TimeDuration.valueOf(500, TimeUnit.MILLISECONDS);

    /**
     * Whether servers and clients of this process with equal poller settings share one poller. A message from one to another on
     * that poller's thread wakes no thread, and a spinning poller occupies one core only.
     */
    String POLLER_SHARED_KEY = PREFIX + ".poller.shared";
    /** Default of {@link #POLLER_SHARED_KEY}. */
    boolean POLLER_SHARED_DEFAULT = false;
    /**
     * CPU to which the polling thread is pinned; -1 for none. Several nodes of a process need {@link #POLLER_SHARED_KEY},
     * otherwise their pollers compete for that CPU.
     */
    String POLLER_CPU_KEY = PREFIX + ".poller.cpu";
    /** Default of {@link #POLLER_CPU_KEY}. */
    int POLLER_CPU_DEFAULT = -1;
    /** Idle strategy of the poller: event-driven, backoff, yield or busy-spin. */
    String POLLER_IDLE_KEY = PREFIX + ".poller.idle";
    /** Default of {@link #POLLER_IDLE_KEY}. */
    String POLLER_IDLE_DEFAULT = "event-driven";
    /** Time that an event-driven poller spins before it sleeps. */
    String POLLER_SPIN_KEY = PREFIX + ".poller.spin";
    /** Default of {@link #POLLER_SPIN_KEY}. */
    TimeDuration POLLER_SPIN_DEFAULT = TimeDuration.valueOf(20, TimeUnit.MICROSECONDS);
    /**
     * Threads of the handlers: the poller's, one for all paths, or parallel with one for each of the three paths.
     */
    String HANDLERS_KEY = PREFIX + ".handlers";
    /** Default of {@link #HANDLERS_KEY}. */
    String HANDLERS_DEFAULT = "poller";
    /** Wait strategy of handlers with threads of their own: block, sleep, yield or busy-spin. */
    String HANDLER_WAIT_KEY = PREFIX + ".handler.wait";
    /** Default of {@link #HANDLER_WAIT_KEY}. */
    String HANDLER_WAIT_DEFAULT = "block";
    /**
     * Whether a server processes client writes, and entries of the leader that it already follows, on the handler's thread. Only
     * for state machines with {@code startTransaction} and {@code preAppendTransaction} that never block, and logs that never
     * block: meanwhile the server receives nothing.
     */
    String DIRECT_KEY = PREFIX + ".server.direct";
    /** Default of {@link #DIRECT_KEY}. */
    boolean DIRECT_DEFAULT = false;
    /**
     * Whether {@code ringpoll stat} can read the counters of a server's own poller and handlers; a shared poller always has a
     * counters file.
     */
    String COUNTERS_FILE_KEY = PREFIX + ".server.counters-file";
    /** Default of {@link #COUNTERS_FILE_KEY}. */
    boolean COUNTERS_FILE_DEFAULT = true;

    /** Logs the values that were read. */
    Logger LOG = LoggerFactory.getLogger(RdmaConfigKeys.class);

    /**
     * The logger of the values that were read.
     *
     * @return logs at debug level
     */
    static Consumer<String> defaultLog() {
        return LOG::debug;
    }

    /**
     * Reads {@link #SERVER_HOST_KEY}.
     *
     * @param properties to read
     * @return an address, or null
     */
    static String serverHost(final RaftProperties properties) {
        return get(properties::get, SERVER_HOST_KEY, null, defaultLog());
    }

    /**
     * Sets {@link #SERVER_HOST_KEY}.
     *
     * @param properties to change
     * @param host       an address of this machine
     */
    static void setServerHost(final RaftProperties properties, final String host) {
        properties.set(SERVER_HOST_KEY, host);
    }

    /**
     * Reads {@link #SERVER_PORT_KEY}.
     *
     * @param properties to read
     * @return the port
     */
    static int serverPort(final RaftProperties properties) {
        return getInt(properties::getInt, SERVER_PORT_KEY, SERVER_PORT_DEFAULT, defaultLog(), requireMin(0), requireMax(65_535));
    }

    /**
     * Sets {@link #SERVER_PORT_KEY}.
     *
     * @param properties to change
     * @param port       the port
     */
    static void setServerPort(final RaftProperties properties, final int port) {
        properties.setInt(SERVER_PORT_KEY, port);
    }

    /**
     * Reads {@link #CLIENT_HOST_KEY}.
     *
     * @param properties to read
     * @return an address, or null
     */
    static String clientHost(final RaftProperties properties) {
        return get(properties::get, CLIENT_HOST_KEY, null, defaultLog());
    }

    /**
     * Reads {@link #DIRECT_KEY}.
     *
     * @param properties to read
     * @return true if requests are processed on the handler's thread
     */
    static boolean direct(final RaftProperties properties) {
        return getBoolean(properties::getBoolean, DIRECT_KEY, DIRECT_DEFAULT, defaultLog());
    }

    /**
     * Reads {@link #COUNTERS_FILE_KEY}.
     *
     * @param properties to read
     * @return true for a counters file
     */
    static boolean countersFile(final RaftProperties properties) {
        return getBoolean(properties::getBoolean, COUNTERS_FILE_KEY, COUNTERS_FILE_DEFAULT, defaultLog());
    }

    /**
     * Reads {@link #RECONNECT_DELAY_MIN_KEY}.
     *
     * @param properties to read
     * @return the delay
     */
    static TimeDuration reconnectDelayMin(final RaftProperties properties) {
        return getTimeDuration(properties.getTimeDuration(RECONNECT_DELAY_MIN_DEFAULT.getUnit()), RECONNECT_DELAY_MIN_KEY,
            RECONNECT_DELAY_MIN_DEFAULT, defaultLog(), requirePositive());
    }

    /**
     * Reads {@link #RECONNECT_DELAY_MAX_KEY}.
     *
     * @param properties to read
     * @return the delay
     */
    static TimeDuration reconnectDelayMax(final RaftProperties properties) {
        return getTimeDuration(properties.getTimeDuration(RECONNECT_DELAY_MAX_DEFAULT.getUnit()), RECONNECT_DELAY_MAX_KEY,
            RECONNECT_DELAY_MAX_DEFAULT, defaultLog(), requirePositive());
    }

    /**
     * Reads the configuration of a node.
     *
     * @param properties   to read
     * @param name         of the node
     * @param countersFile whether the node has a counters file
     * @return the configuration
     * @throws IllegalArgumentException if a value is out of range; the message contains the key
     */
    static NodeConfig nodeConfig(final RaftProperties properties, final String name, final boolean countersFile) {
        final int bufferBytes = size(properties, BUFFER_SIZE_KEY, BUFFER_SIZE_DEFAULT, NodeConfig.MIN_BUFFER_BYTES, 1 << 20);
        final int credits =
            getInt(properties::getInt, CREDITS_KEY, CREDITS_DEFAULT, defaultLog(), requireMin(2), requireMax(4096));
        final int connections = getInt(properties::getInt, CONNECTIONS_MAX_KEY, CONNECTIONS_MAX_DEFAULT, defaultLog(),
            requireMin(1), requireMax(4096));
        final TimeDuration connectTimeout = getTimeDuration(properties.getTimeDuration(CONNECT_TIMEOUT_DEFAULT.getUnit()),
            CONNECT_TIMEOUT_KEY, CONNECT_TIMEOUT_DEFAULT, defaultLog(), requirePositive());
        return new NodeConfig(name, bufferBytes, credits, connections,
            size(properties, MESSAGE_SIZE_MAX_KEY, MESSAGE_SIZE_MAX_DEFAULT, bufferBytes, 1 << 30),
            size(properties, REGION_CACHE_SIZE_KEY, REGION_CACHE_SIZE_DEFAULT, 0, Integer.MAX_VALUE),
            connectTimeout.toIntExact(TimeUnit.MILLISECONDS), poller(properties), countersFile);
    }

    private static int size(final RaftProperties properties, final String key, final SizeInBytes byDefault, final long min,
        final long max) {
        final SizeInBytes size = getSizeInBytes(properties::getSizeInBytes, key, byDefault, defaultLog());
        if (size.getSize() < min || size.getSize() > max) {
            throw new IllegalArgumentException(key + " = " + size + ": use " + min + " to " + max + " bytes");
        }
        return size.getSizeInt();
    }

    private static PollerConfig poller(final RaftProperties properties) {
        final boolean shared = getBoolean(properties::getBoolean, POLLER_SHARED_KEY, POLLER_SHARED_DEFAULT, defaultLog());
        final int cpu = getInt(properties::getInt, POLLER_CPU_KEY, POLLER_CPU_DEFAULT, defaultLog(), requireMin(-1));
        final TimeDuration spin = getTimeDuration(properties.getTimeDuration(POLLER_SPIN_DEFAULT.getUnit()), POLLER_SPIN_KEY,
            POLLER_SPIN_DEFAULT, defaultLog(), requireNonNegativeTimeDuration());
        final HandlerThreads handlers = handlers(properties);
        if (shared && handlers != HandlerThreads.POLLER) {
            throw new IllegalArgumentException(POLLER_SHARED_KEY + " = true: set " + HANDLERS_KEY + " = poller");
        }
        return new PollerConfig(
            shared, cpu, pollerIdle(properties), spin.toLong(TimeUnit.NANOSECONDS), handlers, handlerWait(properties));
    }

    private static PollerIdle pollerIdle(final RaftProperties properties) {
        final String idle = get(properties::get, POLLER_IDLE_KEY, POLLER_IDLE_DEFAULT, defaultLog());
        try {
            return PollerIdle.valueOf(constant(idle));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(
                POLLER_IDLE_KEY + " = " + idle + ": use event-driven, backoff, yield or busy-spin", e);
        }
    }

    private static HandlerThreads handlers(final RaftProperties properties) {
        final String handlers = get(properties::get, HANDLERS_KEY, HANDLERS_DEFAULT, defaultLog());
        try {
            return HandlerThreads.valueOf(constant(handlers));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(HANDLERS_KEY + " = " + handlers + ": use poller, one or parallel", e);
        }
    }

    private static WaitMode handlerWait(final RaftProperties properties) {
        final String wait = get(properties::get, HANDLER_WAIT_KEY, HANDLER_WAIT_DEFAULT, defaultLog());
        try {
            return WaitMode.valueOf(constant(wait));
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(HANDLER_WAIT_KEY + " = " + wait + ": use block, sleep, yield or busy-spin", e);
        }
    }

    private static String constant(final String value) {
        return value.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
