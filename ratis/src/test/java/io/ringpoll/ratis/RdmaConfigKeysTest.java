package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.Access;
import io.ringpoll.internal.transport.HandlerThreads;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PeerBounds;
import io.ringpoll.internal.transport.PeerRole;
import io.ringpoll.internal.transport.PollerConfig;
import io.ringpoll.pipeline.WaitMode;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaConfigKeysTest {
    private static final List<Class<?>> KEYS = List.of(
        RdmaConfigKeys.class, RdmaStreamConfigKeys.class, RdmaAppendConfigKeys.class, RdmaReplyConfigKeys.class);

    private final RaftProperties properties = new RaftProperties();

    private NodeConfig nodeConfig() {
        return RdmaConfig.nodeConfig(properties, "node", true);
    }

    @Test
    void shouldHaveTheDocumentedDefaults() {
        final NodeConfig config = nodeConfig();
        assertEquals(new NodeConfig("node", 16 << 10, 32, 128, 64 << 20, 32 << 20, 2_000, 10_000,
            new PollerConfig(true, -1, WaitMode.BLOCK, 500_000, HandlerThreads.POLLER, WaitMode.BLOCK), true,
            new PeerBounds(1_000, 10_000, 60_000, 16, 4096, 64 << 20, 16_384, 256 << 20, 512 << 20, 256 << 20), Access.OPEN),
            config);
        assertEquals(RdmaApi.RPMA, RdmaConfig.api(properties));
        assertNull(RdmaConfigKeys.serverHost(properties));
        assertNull(RdmaConfigKeys.clientHost(properties));
        assertEquals(0, RdmaConfigKeys.serverPort(properties));
        assertTrue(RdmaConfigKeys.direct(properties));
        assertTrue(RdmaConfigKeys.countersFile(properties));
        assertEquals(10, RdmaConfigKeys.reconnectDelayMin(properties).toLong(TimeUnit.MILLISECONDS));
        assertEquals(500, RdmaConfigKeys.reconnectDelayMax(properties).toLong(TimeUnit.MILLISECONDS));
    }

    @Test
    void shouldReadTheSettings() {
        RdmaConfigKeys.setServerHost(properties, "10.0.0.1");
        RdmaConfigKeys.setServerPort(properties, 65_535);
        properties.set("raft.rdma.client.host", "10.0.0.2");
        properties.set("raft.rdma.buffer.size", "8KB");
        properties.set("raft.rdma.credits", "7");
        properties.set("raft.rdma.connections.max", "3");
        properties.set("raft.rdma.message.size.max", "1MB");
        properties.set("raft.rdma.region.cache.size", "0");
        properties.set("raft.rdma.connect.timeout", "3s");
        properties.set("raft.rdma.keepalive.interval", "20ms");
        properties.set("raft.rdma.keepalive.timeout", "1s");
        properties.set("raft.rdma.link.requests.max", "5");
        properties.set("raft.rdma.link.bytes.max", "6000");
        properties.set("raft.rdma.server.requests.max", "7");
        properties.set("raft.rdma.server.bytes.max", "8000");
        properties.set("raft.rdma.reply.bytes.max", "7000");
        properties.set("raft.rdma.reply.timeout", "4s");
        properties.set("raft.rdma.landing.size.max", "9000");
        properties.set("raft.rdma.reconnect.delay.min", "1ms");
        properties.set("raft.rdma.reconnect.delay.max", "2ms");
        properties.set("raft.rdma.poller.cpu", "1");
        properties.set("raft.rdma.poller.idle", "block");
        properties.set("raft.rdma.poller.spin", "5us");
        properties.set("raft.rdma.handlers", "parallel");
        properties.set("raft.rdma.handler.wait", "busy-spin");
        properties.set("raft.rdma.server.direct", "false");
        properties.set("raft.rdma.server.counters-file", "false");
        assertEquals("10.0.0.1", RdmaConfigKeys.serverHost(properties));
        assertEquals(65_535, RdmaConfigKeys.serverPort(properties));
        assertEquals("10.0.0.2", RdmaConfigKeys.clientHost(properties));
        assertEquals(new NodeConfig("node", 8 << 10, 7, 3, 1 << 20, 0, 3_000, 10_000,
            new PollerConfig(false, 1, WaitMode.BLOCK, 5_000, HandlerThreads.PARALLEL, WaitMode.BUSY_SPIN), true,
            new PeerBounds(20, 1_000, 4_000, 1, 5, 6_000, 7, 8_000, 7_000, 9_000), Access.OPEN),
            nodeConfig());
        assertEquals(1, RdmaConfigKeys.reconnectDelayMin(properties).toLong(TimeUnit.MILLISECONDS));
        assertEquals(2, RdmaConfigKeys.reconnectDelayMax(properties).toLong(TimeUnit.MILLISECONDS));
        assertFalse(RdmaConfigKeys.direct(properties));
        assertFalse(RdmaConfigKeys.countersFile(properties));
    }

    @Test
    void shouldChooseTheBindingByAWordAndRefuseOthersInOneLine() {
        RdmaConfigKeys.setApi(properties, "verbs");
        assertEquals("verbs", RdmaConfigKeys.api(properties));
        assertEquals(RdmaApi.VERBS, RdmaConfig.api(properties));
        properties.set("raft.rdma.api", "disni");
        final String refused = "raft.rdma.api = disni: use rpma or verbs";
        assertEquals(refused,
            assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkServer(properties)).getMessage());
        assertEquals(refused,
            assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkClient(properties)).getMessage());
    }

    @Test
    void shouldRefuseAnEmptyHostInOneLine() {
        for (final String host : List.of("", " ")) {
            properties.set("raft.rdma.server.host", host);
            assertEquals("raft.rdma.server.host = " + host + ": use an address or a host name, or remove the setting",
                assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkServer(properties)).getMessage());
            properties.unset("raft.rdma.server.host");
            properties.set("raft.rdma.client.host", host);
            assertEquals("raft.rdma.client.host = " + host + ": use an address or a host name, or remove the setting",
                assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkClient(properties)).getMessage());
        }
    }

    @Test
    void shouldAcceptSizesWithinBoundsAndNameTheKeyOtherwise() {
        assertBounds("raft.rdma.buffer.size", "256", "1MB", "255", "1048577");
        assertBounds("raft.rdma.credits", "2", "4096", "1", "4097");
        assertBounds("raft.rdma.connections.max", "1", "4096", "0", "4097");
        assertBounds("raft.rdma.connections.reserved", "0", "127", "-1", "128");
        assertBounds("raft.rdma.message.size.max", "16KB", "1GB", "16383", "1073741825");
        assertBounds("raft.rdma.region.cache.size", "0", "2147483647", "-1", "2147483648");
        assertBounds("raft.rdma.poller.cpu", "-1", "4095", "-2", "x");
        assertBounds("raft.rdma.poller.spin", "0", "1s", "-1ns", "x");
        assertBounds("raft.rdma.connect.timeout", "1ms", "100s", "0", "-1ms");
        assertBounds("raft.rdma.poller.idle", "sleep", "busy-spin", "event-driven", "");
        assertBounds("raft.rdma.handlers", "one", "parallel", "two", "");
        assertBounds("raft.rdma.handler.wait", "sleep", "yield", "wait", "");
    }

    /** The user has not set the window that would be named. */
    @Test
    void shouldNotRefuseALowerBoundOfAConnectionBecauseOfTheDefaultWindow() {
        RdmaConfigKeys.setLinkBytesMax(properties, SizeInBytes.valueOf("300KB"));
        assertEquals(300 << 10, RdmaStreamConfigKeys.window(properties).getSize());
        RdmaStreamConfigKeys.setWindow(properties, SizeInBytes.valueOf("16MB"));
        assertEquals("raft.rdma.stream.window = 16MB: use 1 to 307200 bytes",
            assertThrows(IllegalArgumentException.class, () -> RdmaStreamConfigKeys.window(properties)).getMessage());
    }

    @Test
    void shouldRefuseDurationsThatAreNoMilliseconds() {
        assertBounds("raft.rdma.connect.timeout", "1ms", "24d", "999us", "25d", "9223372036854775807");
        assertBounds("raft.rdma.keepalive.interval", "1ms", "9s", "1ns", "25d", "99999999d");
        assertBounds("raft.rdma.keepalive.timeout", "2s", "24d", "1ns", "25d", "99999999d");
    }

    @Test
    void shouldNameTheKeyOfEachValueThatIsInvalid() throws ReflectiveOperationException {
        for (final Class<?> keys : KEYS) {
            for (final Field field : keys.getFields()) {
                if (field.getName().endsWith("_KEY")) {
                    final String key = (String) field.get(null);
                    final Method getter =
                        keys.getMethod(camelCase(field.getName().replaceAll("_KEY$", "")), RaftProperties.class);
                    final boolean isText = getter.getReturnType() == String.class || getter.getReturnType() == File.class;
                    for (final String value : isText ? new String[0] : new String[] {"", "x", "1.5", "99999999999999999999"}) {
                        final RaftProperties changed = new RaftProperties();
                        changed.set(key, value);
                        final Throwable failure =
                            assertThrows(InvocationTargetException.class, () -> getter.invoke(null, changed), key).getCause();
                        assertEquals(IllegalArgumentException.class, failure.getClass(), key);
                        assertTrue(failure.getMessage().startsWith(key + " = " + value + ": use "), failure.getMessage());
                    }
                }
            }
        }
    }

    private void assertBounds(final String key, final String least, final String most, final String... refused) {
        for (final String taken : new String[] {least, most}) {
            properties.set(key, taken);
            nodeConfig();
        }
        for (final String value : refused) {
            properties.set(key, value);
            final RuntimeException failure = assertThrows(RuntimeException.class, this::nodeConfig, key + " = " + value);
            assertTrue(failure.getMessage().contains(key) && failure.getMessage().contains(value), failure.getMessage());
        }
        properties.unset(key);
    }

    @Test
    void shouldReadTheSettingsOfAppendRequests() {
        assertEquals(1, RdmaAppendConfigKeys.requestsMax(properties));
        assertEquals(8 << 20, RdmaAppendConfigKeys.bytesMax(properties).getSize());
        RdmaAppendConfigKeys.setRequestsMax(properties, 1024);
        RdmaAppendConfigKeys.setBytesMax(properties, SizeInBytes.valueOf(1));
        assertEquals("1024", properties.get("raft.rdma.append.requests.max"));
        assertEquals(1024, RdmaAppendConfigKeys.requestsMax(properties));
        assertEquals(1, RdmaAppendConfigKeys.bytesMax(properties).getSize());
        for (final int refused : new int[] {0, 1025}) {
            RdmaAppendConfigKeys.setRequestsMax(properties, refused);
            assertThrows(IllegalArgumentException.class, () -> RdmaAppendConfigKeys.requestsMax(properties));
        }
        properties.set("raft.rdma.append.bytes.max", "0");
        assertThrows(IllegalArgumentException.class, () -> RdmaAppendConfigKeys.bytesMax(properties));
    }

    @Test
    void shouldReadTheSettingsOfReplies() {
        RdmaReplyConfigKeys.setBytesMax(properties, SizeInBytes.valueOf(1));
        RdmaReplyConfigKeys.setTimeout(properties, TimeDuration.ONE_MILLISECOND);
        assertEquals("1", properties.get("raft.rdma.reply.bytes.max"));
        assertEquals(1, nodeConfig().bounds().maxReplyBytes());
        assertEquals(1, nodeConfig().bounds().replyTimeoutMs());
        properties.set("raft.rdma.reply.bytes.max", "0");
        assertThrows(IllegalArgumentException.class, this::nodeConfig);
    }

    @Test
    void shouldRequireRoomForTheMessagesOfTheEngine() {
        RdmaConfig.checkMessageSize(properties);
        for (final String key : new String[] {"raft.server.log.appender.buffer.byte-limit",
            "raft.server.log.appender.snapshot.chunk.size.max"}) {
            properties.set(key, Long.toString(63L << 20));
            RdmaConfig.checkMessageSize(properties);
            properties.set(key, Long.toString((63L << 20) + 1));
            final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkMessageSize(properties));
            assertTrue(failure.getMessage().contains(key), failure.getMessage());
            assertTrue(failure.getMessage().contains("raft.rdma.message.size.max"), failure.getMessage());
            properties.set("raft.rdma.message.size.max", "65MB");
            RdmaConfig.checkMessageSize(properties);
            properties.unset("raft.rdma.message.size.max");
            properties.unset(key);
        }
    }

    @Test
    void shouldRefuseAServerWithAnInvalidSettingBeforeItStarts() throws ReflectiveOperationException {
        final RaftServer server = mock(RaftServer.class);
        int refused = 0;
        for (final Class<?> keys : KEYS) {
            for (final Field field : keys.getFields()) {
                // All hosts are valid here; no file is named x.
                if (field.getName().endsWith("_KEY") && !field.getName().endsWith("_HOST_KEY")) {
                    final String key = (String) field.get(null);
                    final RaftProperties changed = new RaftProperties();
                    changed.set(key, "x");
                    when(server.getProperties()).thenReturn(changed);
                    final IllegalArgumentException failure = assertThrows(
                        IllegalArgumentException.class, () -> new RdmaFactory(new RdmaRpcType()).newRaftServerRpc(server), key);
                    assertTrue(failure.getMessage().contains(key), failure.getMessage());
                    refused++;
                }
            }
        }
        assertTrue(refused > 25, "only " + refused + " settings");
    }

    @Test
    void shouldRefuseAClientWithTooMuchMemoryForAConnection() {
        RdmaConfigKeys.setBufferSize(properties, SizeInBytes.ONE_MB);
        RdmaConfigKeys.setCredits(properties, 4096);
        final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class,
            () -> new RdmaFactory(new RdmaRpcType()).newRaftClientRpc(ClientId.randomId(), properties));
        assertTrue(failure.getMessage().contains("raft.rdma.credits"), failure.getMessage());
    }

    @Test
    void shouldRefuseAClientWithAnInvalidSettingBeforeItConnects() {
        for (final String key : new String[] {"raft.rdma.credits", "raft.rdma.connect.timeout", "raft.rdma.poller.idle",
            "raft.rdma.reconnect.delay.max", "raft.rdma.keepalive.timeout", "raft.rdma.secret.file"}) {
            final RaftProperties changed = new RaftProperties();
            changed.set(key, "x");
            final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class,
                () -> new RdmaFactory(new RdmaRpcType()).newRaftClientRpc(ClientId.randomId(), changed), key);
            assertTrue(failure.getMessage().contains(key), failure.getMessage());
        }
    }

    @Test
    void shouldRejectAnInvalidServerPort() {
        for (final int port : new int[] {-1, 65_536}) {
            RdmaConfigKeys.setServerPort(properties, port);
            assertThrows(IllegalArgumentException.class, () -> RdmaConfigKeys.serverPort(properties));
        }
    }

    @Test
    void shouldRejectAKeepaliveTimeoutThatIsNotLongerThanTheInterval() {
        properties.set("raft.rdma.keepalive.interval", "10s");
        final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, this::nodeConfig);
        assertTrue(failure.getMessage().contains("raft.rdma.keepalive.timeout"), failure.getMessage());
    }

    @Test
    void shouldRefuseASecretThatOthersCanAccess(@TempDir final Path folder) throws Exception {
        final Path file = Files.write(folder.resolve("secret"), new byte[16]);
        RdmaConfigKeys.setSecretFile(properties, file.toFile());
        for (final String rights : new String[] {"rw-r-----", "rw-----w-", "rw------x"}) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
            assertSecretRefused("raft.rdma.secret.file", "chmod 600");
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertNotNull(RdmaConfig.access(properties, PeerRole.CLIENT, "c1").secret());
        RdmaConfigKeys.setServerSecretFile(properties, folder.resolve("missing").toFile());
        // Clients need no secret of the servers.
        assertNotNull(RdmaConfig.access(properties, PeerRole.CLIENT, "c1").secret());
        assertSecretRefused("raft.rdma.server.secret.file", "missing does not exist");
        for (final String noFile : new String[] {folder.toString(), ""}) {
            properties.set("raft.rdma.server.secret.file", noFile);
            assertSecretRefused("raft.rdma.server.secret.file", "is a folder");
        }
        properties.unset("raft.rdma.server.secret.file");
        for (final int length : new int[] {0, 15, 4097}) {
            Files.write(file, new byte[length]);
            assertSecretRefused("raft.rdma.secret.file", "16 to 4096");
        }
    }

    private void assertSecretRefused(final String key, final String reason) {
        final IOException failure =
            assertThrows(IOException.class, () -> RdmaConfig.access(properties, PeerRole.SERVER, "n1"));
        assertTrue(failure.getMessage().contains(key) && failure.getMessage().contains(reason), failure.getMessage());
    }

    @Test
    void shouldNameTheKeyOfAnInvalidAddress() {
        for (final String list : new String[] {"localhost", "10.0.0.0/33", "10.0.0.1,,10.0.0.2", "10.0.0.0/x", "fd00::/129",
            "10.1", "10/8", "10.1/16", "167772161", "10.0.0.256", "", " "}) {
            RdmaConfigKeys.setServerAllowed(properties, list);
            final IllegalArgumentException failure = assertThrows(
                IllegalArgumentException.class, () -> RdmaConfig.access(properties, PeerRole.SERVER, "n1"), list);
            assertTrue(failure.getMessage().contains("raft.rdma.server.allowed"), failure.getMessage());
        }
    }

    @Test
    void shouldShareAPollerByDefaultOnlyIfItsThreadRunsTheHandlers() {
        for (final String handlers : new String[] {"poller", "POLLER"}) {
            properties.set("raft.rdma.handlers", handlers);
            assertTrue(nodeConfig().poller().shared(), handlers);
        }
        for (final String handlers : new String[] {"one", "parallel"}) {
            properties.set("raft.rdma.handlers", handlers);
            assertFalse(nodeConfig().poller().shared(), handlers);
        }
    }

    @Test
    void shouldNameTheKeyRequiredByASharedPoller() {
        properties.set("raft.rdma.poller.shared", "true");
        assertTrue(nodeConfig().poller().shared());
        properties.set("raft.rdma.handlers", "one");
        final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, this::nodeConfig);
        assertTrue(failure.getMessage().contains("raft.rdma.handlers"), failure.getMessage());
    }

    @Test
    void shouldHaveASetterForEachSettingThatWritesItsKey() throws ReflectiveOperationException {
        int setters = 0;
        for (final Method setter : RdmaConfigKeys.class.getMethods()) {
            if (setter.getName().startsWith("set")) {
                final String constant =
                    setter.getName().substring(3).replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase(Locale.ROOT);
                final String key = (String) RdmaConfigKeys.class.getField(constant + "_KEY").get(null);
                final RaftProperties changed = new RaftProperties();
                setter.invoke(null, changed, sample(setter.getParameterTypes()[1]));
                assertTrue(Set.of("7", "true", "text", "7B", "7ms", "/file").contains(changed.get(key)),
                    () -> setter.getName() + " sets " + key + " to " + changed.get(key));
                setters++;
            }
        }
        final long keys = Stream.of(RdmaConfigKeys.class.getFields()).filter(field -> field.getName().endsWith("_KEY")).count();
        assertEquals(keys, setters);
    }

    @Test
    void shouldHaveAGetterForEachKeyThatReadsItsDefaultAndItsSetting() throws ReflectiveOperationException {
        int keys = 0;
        for (final Field field : RdmaConfigKeys.class.getFields()) {
            if (field.getName().endsWith("_KEY")) {
                final String constant = field.getName().substring(0, field.getName().length() - "_KEY".length());
                final Method getter = RdmaConfigKeys.class.getMethod(camelCase(constant), RaftProperties.class);
                final RaftProperties changed = new RaftProperties();
                assertEquals(comparable(defaultOf(constant)), comparable(getter.invoke(null, changed)), field::getName);
                final Object sample = getter.getReturnType() == SizeInBytes.class ? SizeInBytes.valueOf("64KB") :
                    getter.getReturnType() == boolean.class ? !(boolean) defaultOf(constant) : sample(getter.getReturnType());
                RdmaConfigKeys.class.getMethod("set" + getter.getName().substring(0, 1).toUpperCase(Locale.ROOT) +
                    getter.getName().substring(1), RaftProperties.class, getter.getReturnType()).invoke(null, changed, sample);
                assertEquals(1, changed.size(), field::getName);
                assertEquals(comparable(sample), comparable(getter.invoke(null, changed)), field::getName);
                keys++;
            }
        }
        assertEquals(31, keys);
    }

    private static String camelCase(final String constant) {
        final StringBuilder name = new StringBuilder();
        for (final String word : constant.toLowerCase(Locale.ROOT).split("_")) {
            name.append(name.isEmpty() ? word : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        return name.toString();
    }

    /** Null, or empty for a list, if the key has none. */
    private static Object defaultOf(final String constant) throws IllegalAccessException {
        for (final Field field : RdmaConfigKeys.class.getFields()) {
            if (field.getName().equals(constant + "_DEFAULT")) {
                return field.get(null);
            }
        }
        return constant.equals("SERVER_ALLOWED") ? "" : null;
    }

    /** Sizes have no equality. */
    private static Object comparable(final Object value) {
        return value instanceof final SizeInBytes size ? Long.valueOf(size.getSize()) : value;
    }

    private static Object sample(final Class<?> type) {
        final Map<Class<?>, Object> samples = Map.of(int.class, 7, boolean.class, true, String.class, "text",
            SizeInBytes.class, SizeInBytes.valueOf(7), TimeDuration.class, TimeDuration.valueOf(7, TimeUnit.MILLISECONDS),
            File.class, new File("/file"));
        assertTrue(samples.containsKey(type), type::getName);
        return samples.get(type);
    }
}
