package io.ringpoll.ratis;

import static org.apache.ratis.conf.ConfUtils.set;
import static org.apache.ratis.conf.ConfUtils.setBoolean;
import static org.apache.ratis.conf.ConfUtils.setFile;
import static org.apache.ratis.conf.ConfUtils.setInt;
import static org.apache.ratis.conf.ConfUtils.setSizeInBytes;
import static org.apache.ratis.conf.ConfUtils.setTimeDuration;

import io.ringpoll.internal.transport.NodeConfig;
import java.io.File;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * The transport's settings in the engine's {@link RaftProperties}. The two sides of a connection may differ in every setting. A
 * getter fails with an {@link IllegalArgumentException} if a number is out of range.
 */
public interface RdmaConfigKeys {
    /** Prefix of all keys. */
    String PREFIX = "raft.rdma";

    /** The binding that makes connections: rpma (librpma), or verbs (librdmacm and libibverbs, without librpma). */
    String API_KEY = PREFIX + ".api";
    /** Default of {@link #API_KEY}. */
    String API_DEFAULT = "rpma";
    /** Address of the server's RDMA device; by default the server's address in its group, else the first interface with one. */
    String SERVER_HOST_KEY = PREFIX + ".server.host";
    /** Port of a server; 0: that of the server's address in its group, else a free one. RDMA ports are separate from TCP's. */
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
    /**
     * Connections of a server that clients cannot take, so that the servers of its groups always find room. Below
     * {@link #CONNECTIONS_MAX_KEY}; at most half of it by default.
     */
    String CONNECTIONS_RESERVED_KEY = PREFIX + ".connections.reserved";
    /** Default of {@link #CONNECTIONS_RESERVED_KEY}. */
    int CONNECTIONS_RESERVED_DEFAULT = 16;
    /**
     * Requests of a connection without reply, in each direction: further ones of a peer wait at the peer, and further ones of
     * this side fail with a {@code ResourceUnavailableException}, which the engine retries.
     */
    String LINK_REQUESTS_MAX_KEY = PREFIX + ".link.requests.max";
    /** Default of {@link #LINK_REQUESTS_MAX_KEY}. */
    int LINK_REQUESTS_MAX_DEFAULT = 4096;
    /** Length of the requests of a connection without reply, as {@link #LINK_REQUESTS_MAX_KEY}. */
    String LINK_BYTES_MAX_KEY = PREFIX + ".link.bytes.max";
    /** Default of {@link #LINK_BYTES_MAX_KEY}. */
    SizeInBytes LINK_BYTES_MAX_DEFAULT = SizeInBytes.valueOf("64MB");
    /** Requests of all clients of a server without reply: further ones wait at the clients. */
    String SERVER_REQUESTS_MAX_KEY = PREFIX + ".server.requests.max";
    /** Default of {@link #SERVER_REQUESTS_MAX_KEY}. */
    int SERVER_REQUESTS_MAX_DEFAULT = 16_384;
    /** Length of the requests of all clients of a server without reply: further ones wait at the clients. */
    String SERVER_BYTES_MAX_KEY = PREFIX + ".server.bytes.max";
    /** Default of {@link #SERVER_BYTES_MAX_KEY}. */
    SizeInBytes SERVER_BYTES_MAX_DEFAULT = SizeInBytes.valueOf("256MB");
    /** Memory of a server or client for long messages that are being received; one message is always permitted. */
    String LANDING_SIZE_MAX_KEY = PREFIX + ".landing.size.max";
    /** Default of {@link #LANDING_SIZE_MAX_KEY}. */
    SizeInBytes LANDING_SIZE_MAX_DEFAULT = SizeInBytes.valueOf("256MB");
    /**
     * File with the secret of all servers and clients: 16 to 4096 bytes, without rights for others. Nodes prove that they have it
     * and do not send it; none by default.
     */
    String SECRET_FILE_KEY = PREFIX + ".secret.file";
    /** File with the secret of the servers among themselves, so that clients cannot act as servers; none by default. */
    String SERVER_SECRET_FILE_KEY = PREFIX + ".server.secret.file";
    /** Addresses and prefixes ({@code 10.0.0.0/8}), separated by commas, from which peers may connect; all by default. */
    String SERVER_ALLOWED_KEY = PREFIX + ".server.allowed";
    /**
     * Maximum length of a message. A server requires 1 MB more than
     * {@code raft.server.log.appender.buffer.byte-limit} and {@code raft.server.log.appender.snapshot.chunk.size.max}. A longer
     * request fails with a {@code StateMachineException}, which the engine's client does not retry.
     */
    String MESSAGE_SIZE_MAX_KEY = PREFIX + ".message.size.max";
    /** Default of {@link #MESSAGE_SIZE_MAX_KEY}. */
    SizeInBytes MESSAGE_SIZE_MAX_DEFAULT = SizeInBytes.valueOf("64MB");
    /** Unused memory for long messages that remains registered, per direction. */
    String REGION_CACHE_SIZE_KEY = PREFIX + ".region.cache.size";
    /** Default of {@link #REGION_CACHE_SIZE_KEY}. */
    SizeInBytes REGION_CACHE_SIZE_DEFAULT = SizeInBytes.valueOf("32MB");

    /** Silence of a peer after which it is asked for a sign of life. */
    String KEEPALIVE_INTERVAL_KEY = PREFIX + ".keepalive.interval";
    /** Default of {@link #KEEPALIVE_INTERVAL_KEY}. */
    TimeDuration KEEPALIVE_INTERVAL_DEFAULT = TimeDuration.valueOf(1, TimeUnit.SECONDS);
    /** Silence of a peer after which its connection ends; longer than the interval. */
    String KEEPALIVE_TIMEOUT_KEY = PREFIX + ".keepalive.timeout";
    /** Default of {@link #KEEPALIVE_TIMEOUT_KEY}. */
    TimeDuration KEEPALIVE_TIMEOUT_DEFAULT = TimeDuration.valueOf(10, TimeUnit.SECONDS);

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
     * Whether servers and clients of this process with equal poller settings share one poller: by default if the poller's thread
     * runs the handlers ({@link #HANDLERS_KEY}). A message from one to another on that thread wakes no thread, and a spinning
     * poller occupies one core only.
     */
    String POLLER_SHARED_KEY = PREFIX + ".poller.shared";
    /** Default of {@link #POLLER_SHARED_KEY}. */
    boolean POLLER_SHARED_DEFAULT = true;
    /** CPU of the polling thread; -1 for none. Several nodes of a process need {@link #POLLER_SHARED_KEY}, or compete for it. */
    String POLLER_CPU_KEY = PREFIX + ".poller.cpu";
    /** Default of {@link #POLLER_CPU_KEY}. */
    int POLLER_CPU_DEFAULT = -1;
    /** Wait of the poller: block (until a completion event, after {@link #POLLER_SPIN_KEY}), sleep, yield or busy-spin. */
    String POLLER_IDLE_KEY = PREFIX + ".poller.idle";
    /** Default of {@link #POLLER_IDLE_KEY}. */
    String POLLER_IDLE_DEFAULT = "block";
    /** Longest spin of a blocking poller before it sleeps: for 50 us, and longer while completions come that often. */
    String POLLER_SPIN_KEY = PREFIX + ".poller.spin";
    /** Default of {@link #POLLER_SPIN_KEY}. */
    TimeDuration POLLER_SPIN_DEFAULT = TimeDuration.valueOf(500, TimeUnit.MICROSECONDS);
    /** Threads of the handlers: the poller's, one for all paths, or parallel with one for each of the three paths. */
    String HANDLERS_KEY = PREFIX + ".handlers";
    /** Default of {@link #HANDLERS_KEY}. */
    String HANDLERS_DEFAULT = "poller";
    /** Wait strategy of handlers with threads of their own: block, sleep, yield or busy-spin. */
    String HANDLER_WAIT_KEY = PREFIX + ".handler.wait";
    /** Default of {@link #HANDLER_WAIT_KEY}. */
    String HANDLER_WAIT_DEFAULT = "block";
    /**
     * Whether the polling thread of a server may process a client's request, entries or a heartbeat itself, so that no other
     * thread has to be woken for it; another one takes over the polling when it waits. Without effect if the handlers have
     * threads of their own. Switch it off if the state machine computes for long in {@code startTransaction} or {@code query}.
     */
    String DIRECT_KEY = PREFIX + ".server.direct";
    /** Default of {@link #DIRECT_KEY}. */
    boolean DIRECT_DEFAULT = true;
    /**
     * Whether {@code ringpoll stat} can read the counters of a server's poller and handlers. A shared poller has a counters file
     * if the server or client that starts it is configured so.
     */
    String COUNTERS_FILE_KEY = PREFIX + ".server.counters-file";
    /** Default of {@link #COUNTERS_FILE_KEY}. */
    boolean COUNTERS_FILE_DEFAULT = true;

    /**
     * {@return the value of {@link #API_KEY}}
     * @param properties to read
     */
    static String api(final RaftProperties properties) {
        return RdmaConfig.text(properties, API_KEY, API_DEFAULT);
    }

    /**
     * {@return the value of {@link #SERVER_HOST_KEY}; null if it is not set}
     * @param properties to read
     */
    static String serverHost(final RaftProperties properties) {
        return RdmaConfig.host(properties, SERVER_HOST_KEY);
    }

    /**
     * {@return the value of {@link #SERVER_PORT_KEY}}
     * @param properties to read
     */
    static int serverPort(final RaftProperties properties) {
        return RdmaConfig.number(properties, SERVER_PORT_KEY, SERVER_PORT_DEFAULT, 0, 65_535);
    }

    /**
     * {@return the value of {@link #CLIENT_HOST_KEY}; null if it is not set}
     * @param properties to read
     */
    static String clientHost(final RaftProperties properties) {
        return RdmaConfig.host(properties, CLIENT_HOST_KEY);
    }

    /**
     * {@return the value of {@link #BUFFER_SIZE_KEY}}
     * @param properties to read
     */
    static SizeInBytes bufferSize(final RaftProperties properties) {
        return RdmaConfig.size(properties, BUFFER_SIZE_KEY, BUFFER_SIZE_DEFAULT, NodeConfig.MIN_BUFFER_BYTES, 1 << 20);
    }

    /**
     * {@return the value of {@link #CREDITS_KEY}}
     * @param properties to read
     */
    static int credits(final RaftProperties properties) {
        return RdmaConfig.number(properties, CREDITS_KEY, CREDITS_DEFAULT, 2, 4096);
    }

    /**
     * {@return the value of {@link #CONNECTIONS_MAX_KEY}}
     * @param properties to read
     */
    static int connectionsMax(final RaftProperties properties) {
        return RdmaConfig.number(properties, CONNECTIONS_MAX_KEY, CONNECTIONS_MAX_DEFAULT, 1, 4096);
    }

    /**
     * {@return the value of {@link #CONNECTIONS_RESERVED_KEY}}
     * @param properties to read
     */
    static int connectionsReserved(final RaftProperties properties) {
        final int max = connectionsMax(properties);
        return RdmaConfig.number(
            properties, CONNECTIONS_RESERVED_KEY, Math.min(CONNECTIONS_RESERVED_DEFAULT, max / 2), 0, max - 1);
    }

    /**
     * {@return the value of {@link #LINK_REQUESTS_MAX_KEY}}
     * @param properties to read
     */
    static int linkRequestsMax(final RaftProperties properties) {
        return RdmaConfig.number(properties, LINK_REQUESTS_MAX_KEY, LINK_REQUESTS_MAX_DEFAULT, 1, Integer.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #LINK_BYTES_MAX_KEY}}
     * @param properties to read
     */
    static SizeInBytes linkBytesMax(final RaftProperties properties) {
        return RdmaConfig.size(properties, LINK_BYTES_MAX_KEY, LINK_BYTES_MAX_DEFAULT, 1, Long.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #SERVER_REQUESTS_MAX_KEY}}
     * @param properties to read
     */
    static int serverRequestsMax(final RaftProperties properties) {
        return RdmaConfig.number(properties, SERVER_REQUESTS_MAX_KEY, SERVER_REQUESTS_MAX_DEFAULT, 1, Integer.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #SERVER_BYTES_MAX_KEY}}
     * @param properties to read
     */
    static SizeInBytes serverBytesMax(final RaftProperties properties) {
        return RdmaConfig.size(properties, SERVER_BYTES_MAX_KEY, SERVER_BYTES_MAX_DEFAULT, 1, Long.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #LANDING_SIZE_MAX_KEY}}
     * @param properties to read
     */
    static SizeInBytes landingSizeMax(final RaftProperties properties) {
        return RdmaConfig.size(properties, LANDING_SIZE_MAX_KEY, LANDING_SIZE_MAX_DEFAULT, 1, Long.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #SECRET_FILE_KEY}; null if it is not set}
     * @param properties to read
     */
    static File secretFile(final RaftProperties properties) {
        return RdmaConfig.file(properties, SECRET_FILE_KEY);
    }

    /**
     * {@return the value of {@link #SERVER_SECRET_FILE_KEY}; null if it is not set}
     * @param properties to read
     */
    static File serverSecretFile(final RaftProperties properties) {
        return RdmaConfig.file(properties, SERVER_SECRET_FILE_KEY);
    }

    /**
     * {@return the value of {@link #SERVER_ALLOWED_KEY}; empty for all}
     * @param properties to read
     */
    static String serverAllowed(final RaftProperties properties) {
        return RdmaConfig.text(properties, SERVER_ALLOWED_KEY, "");
    }

    /**
     * {@return the value of {@link #MESSAGE_SIZE_MAX_KEY}}
     * @param properties to read
     */
    static SizeInBytes messageSizeMax(final RaftProperties properties) {
        return RdmaConfig.size(
            properties, MESSAGE_SIZE_MAX_KEY, MESSAGE_SIZE_MAX_DEFAULT, bufferSize(properties).getSize(), 1 << 30);
    }

    /**
     * {@return the value of {@link #REGION_CACHE_SIZE_KEY}}
     * @param properties to read
     */
    static SizeInBytes regionCacheSize(final RaftProperties properties) {
        return RdmaConfig.size(properties, REGION_CACHE_SIZE_KEY, REGION_CACHE_SIZE_DEFAULT, 0, Integer.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #KEEPALIVE_INTERVAL_KEY}}
     * @param properties to read
     */
    static TimeDuration keepaliveInterval(final RaftProperties properties) {
        return RdmaConfig.milliseconds(properties, KEEPALIVE_INTERVAL_KEY, KEEPALIVE_INTERVAL_DEFAULT);
    }

    /**
     * {@return the value of {@link #KEEPALIVE_TIMEOUT_KEY}}
     * @param properties to read
     */
    static TimeDuration keepaliveTimeout(final RaftProperties properties) {
        return RdmaConfig.milliseconds(properties, KEEPALIVE_TIMEOUT_KEY, KEEPALIVE_TIMEOUT_DEFAULT);
    }

    /**
     * {@return the value of {@link #CONNECT_TIMEOUT_KEY}}
     * @param properties to read
     */
    static TimeDuration connectTimeout(final RaftProperties properties) {
        return RdmaConfig.milliseconds(properties, CONNECT_TIMEOUT_KEY, CONNECT_TIMEOUT_DEFAULT);
    }

    /**
     * {@return the value of {@link #RECONNECT_DELAY_MIN_KEY}}
     * @param properties to read
     */
    static TimeDuration reconnectDelayMin(final RaftProperties properties) {
        return RdmaConfig.duration(properties, RECONNECT_DELAY_MIN_KEY, RECONNECT_DELAY_MIN_DEFAULT);
    }

    /**
     * {@return the value of {@link #RECONNECT_DELAY_MAX_KEY}}
     * @param properties to read
     */
    static TimeDuration reconnectDelayMax(final RaftProperties properties) {
        return RdmaConfig.duration(properties, RECONNECT_DELAY_MAX_KEY, RECONNECT_DELAY_MAX_DEFAULT);
    }

    /**
     * {@return the value of {@link #POLLER_SHARED_KEY}}
     * @param properties to read
     */
    static boolean pollerShared(final RaftProperties properties) {
        return RdmaConfig.flag(
            properties, POLLER_SHARED_KEY, POLLER_SHARED_DEFAULT && HANDLERS_DEFAULT.equalsIgnoreCase(handlers(properties)));
    }

    /**
     * {@return the value of {@link #POLLER_CPU_KEY}}
     * @param properties to read
     */
    static int pollerCpu(final RaftProperties properties) {
        return RdmaConfig.number(properties, POLLER_CPU_KEY, POLLER_CPU_DEFAULT, -1, Integer.MAX_VALUE);
    }

    /**
     * {@return the value of {@link #POLLER_IDLE_KEY}}
     * @param properties to read
     */
    static String pollerIdle(final RaftProperties properties) {
        return RdmaConfig.text(properties, POLLER_IDLE_KEY, POLLER_IDLE_DEFAULT);
    }

    /**
     * {@return the value of {@link #POLLER_SPIN_KEY}}
     * @param properties to read
     */
    static TimeDuration pollerSpin(final RaftProperties properties) {
        return RdmaConfig.durationOrZero(properties, POLLER_SPIN_KEY, POLLER_SPIN_DEFAULT);
    }

    /**
     * {@return the value of {@link #HANDLERS_KEY}}
     * @param properties to read
     */
    static String handlers(final RaftProperties properties) {
        return RdmaConfig.text(properties, HANDLERS_KEY, HANDLERS_DEFAULT);
    }

    /**
     * {@return the value of {@link #HANDLER_WAIT_KEY}}
     * @param properties to read
     */
    static String handlerWait(final RaftProperties properties) {
        return RdmaConfig.text(properties, HANDLER_WAIT_KEY, HANDLER_WAIT_DEFAULT);
    }

    /**
     * {@return the value of {@link #DIRECT_KEY}}
     * @param properties to read
     */
    static boolean direct(final RaftProperties properties) {
        return RdmaConfig.flag(properties, DIRECT_KEY, DIRECT_DEFAULT);
    }

    /**
     * {@return the value of {@link #COUNTERS_FILE_KEY}}
     * @param properties to read
     */
    static boolean countersFile(final RaftProperties properties) {
        return RdmaConfig.flag(properties, COUNTERS_FILE_KEY, COUNTERS_FILE_DEFAULT);
    }

    /**
     * Sets {@link #API_KEY}.
     * @param properties to change
     * @param api        rpma or verbs
     */
    static void setApi(final RaftProperties properties, final String api) {
        set(properties::set, API_KEY, api);
    }

    /**
     * Sets {@link #SERVER_HOST_KEY}.
     * @param properties to change
     * @param host       an address of this machine
     */
    static void setServerHost(final RaftProperties properties, final String host) {
        properties.set(SERVER_HOST_KEY, host);
    }

    /**
     * Sets {@link #SECRET_FILE_KEY}.
     * @param properties to change
     * @param file       with the secret
     */
    static void setSecretFile(final RaftProperties properties, final File file) {
        setFile(properties::setFile, SECRET_FILE_KEY, file);
    }

    /**
     * Sets {@link #SERVER_SECRET_FILE_KEY}.
     * @param properties to change
     * @param file       with the secret
     */
    static void setServerSecretFile(final RaftProperties properties, final File file) {
        setFile(properties::setFile, SERVER_SECRET_FILE_KEY, file);
    }

    /**
     * Sets {@link #SERVER_ALLOWED_KEY}.
     * @param properties to change
     * @param list       addresses and prefixes, separated by commas
     */
    static void setServerAllowed(final RaftProperties properties, final String list) {
        set(properties::set, SERVER_ALLOWED_KEY, list);
    }

    /**
     * Sets {@link #CONNECTIONS_RESERVED_KEY}.
     * @param properties  to change
     * @param connections number of connections
     */
    static void setConnectionsReserved(final RaftProperties properties, final int connections) {
        setInt(properties::setInt, CONNECTIONS_RESERVED_KEY, connections);
    }

    /**
     * Sets {@link #KEEPALIVE_INTERVAL_KEY}.
     * @param properties to change
     * @param interval   silence of a peer
     */
    static void setKeepaliveInterval(final RaftProperties properties, final TimeDuration interval) {
        setTimeDuration(properties::setTimeDuration, KEEPALIVE_INTERVAL_KEY, interval);
    }

    /**
     * Sets {@link #KEEPALIVE_TIMEOUT_KEY}.
     * @param properties to change
     * @param timeout    silence of a peer
     */
    static void setKeepaliveTimeout(final RaftProperties properties, final TimeDuration timeout) {
        setTimeDuration(properties::setTimeDuration, KEEPALIVE_TIMEOUT_KEY, timeout);
    }

    /**
     * Sets {@link #SERVER_PORT_KEY}.
     * @param properties to change
     * @param port       the port
     */
    static void setServerPort(final RaftProperties properties, final int port) {
        properties.setInt(SERVER_PORT_KEY, port);
    }

    /**
     * Sets {@link #CLIENT_HOST_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setClientHost(final RaftProperties properties, final String value) {
        set(properties::set, CLIENT_HOST_KEY, value);
    }

    /**
     * Sets {@link #BUFFER_SIZE_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setBufferSize(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, BUFFER_SIZE_KEY, value);
    }

    /**
     * Sets {@link #CREDITS_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setCredits(final RaftProperties properties, final int value) {
        setInt(properties::setInt, CREDITS_KEY, value);
    }

    /**
     * Sets {@link #CONNECTIONS_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setConnectionsMax(final RaftProperties properties, final int value) {
        setInt(properties::setInt, CONNECTIONS_MAX_KEY, value);
    }

    /**
     * Sets {@link #LINK_REQUESTS_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setLinkRequestsMax(final RaftProperties properties, final int value) {
        setInt(properties::setInt, LINK_REQUESTS_MAX_KEY, value);
    }

    /**
     * Sets {@link #LINK_BYTES_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setLinkBytesMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, LINK_BYTES_MAX_KEY, value);
    }

    /**
     * Sets {@link #SERVER_REQUESTS_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setServerRequestsMax(final RaftProperties properties, final int value) {
        setInt(properties::setInt, SERVER_REQUESTS_MAX_KEY, value);
    }

    /**
     * Sets {@link #SERVER_BYTES_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setServerBytesMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, SERVER_BYTES_MAX_KEY, value);
    }

    /**
     * Sets {@link #LANDING_SIZE_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setLandingSizeMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, LANDING_SIZE_MAX_KEY, value);
    }

    /**
     * Sets {@link #MESSAGE_SIZE_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setMessageSizeMax(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, MESSAGE_SIZE_MAX_KEY, value);
    }

    /**
     * Sets {@link #REGION_CACHE_SIZE_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setRegionCacheSize(final RaftProperties properties, final SizeInBytes value) {
        setSizeInBytes(properties::set, REGION_CACHE_SIZE_KEY, value);
    }

    /**
     * Sets {@link #CONNECT_TIMEOUT_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setConnectTimeout(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, CONNECT_TIMEOUT_KEY, value);
    }

    /**
     * Sets {@link #RECONNECT_DELAY_MIN_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setReconnectDelayMin(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, RECONNECT_DELAY_MIN_KEY, value);
    }

    /**
     * Sets {@link #RECONNECT_DELAY_MAX_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setReconnectDelayMax(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, RECONNECT_DELAY_MAX_KEY, value);
    }

    /**
     * Sets {@link #POLLER_SHARED_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setPollerShared(final RaftProperties properties, final boolean value) {
        setBoolean(properties::setBoolean, POLLER_SHARED_KEY, value);
    }

    /**
     * Sets {@link #POLLER_CPU_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setPollerCpu(final RaftProperties properties, final int value) {
        setInt(properties::setInt, POLLER_CPU_KEY, value);
    }

    /**
     * Sets {@link #POLLER_IDLE_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setPollerIdle(final RaftProperties properties, final String value) {
        set(properties::set, POLLER_IDLE_KEY, value);
    }

    /**
     * Sets {@link #POLLER_SPIN_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setPollerSpin(final RaftProperties properties, final TimeDuration value) {
        setTimeDuration(properties::setTimeDuration, POLLER_SPIN_KEY, value);
    }

    /**
     * Sets {@link #HANDLERS_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setHandlers(final RaftProperties properties, final String value) {
        set(properties::set, HANDLERS_KEY, value);
    }

    /**
     * Sets {@link #HANDLER_WAIT_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setHandlerWait(final RaftProperties properties, final String value) {
        set(properties::set, HANDLER_WAIT_KEY, value);
    }

    /**
     * Sets {@link #DIRECT_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setDirect(final RaftProperties properties, final boolean value) {
        setBoolean(properties::setBoolean, DIRECT_KEY, value);
    }

    /**
     * Sets {@link #COUNTERS_FILE_KEY}.
     * @param properties to change
     * @param value      of the setting
     */
    static void setCountersFile(final RaftProperties properties, final boolean value) {
        setBoolean(properties::setBoolean, COUNTERS_FILE_KEY, value);
    }
}
