package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.ratis.KnownKeys;
import io.ringpoll.internal.transport.Warnings;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class KnownKeysTest {
    private final RaftProperties properties = new RaftProperties();

    @Test
    void shouldContainEachKeyOfTheInterfaces() throws IllegalAccessException {
        final List<String> keys = new ArrayList<>();
        for (final Class<?> type : List.of(RdmaConfigKeys.class, RdmaAppendConfigKeys.class,
            RdmaReplyConfigKeys.class, RdmaStreamConfigKeys.class)) {
            for (final Field field : type.getFields()) {
                if (field.getName().endsWith("_KEY")) {
                    keys.add((String) field.get(null));
                }
            }
        }
        assertEquals(keys.stream().sorted().toList(), KnownKeys.ALL.stream().sorted().toList());
    }

    @ParameterizedTest
    @CsvSource({
        "raft.rdma.conections.max, raft.rdma.connections.max",
        "raft.rdma.credit, raft.rdma.credits",
        "raft.rdma.secretfile, raft.rdma.secret.file",
        "raft.rdma.server.secret-file, raft.rdma.server.secret.file",
        "raft.rdma.stream.windows, raft.rdma.stream.window",
        "raft.rdma.append.request.max, raft.rdma.append.requests.max",
        "raft.rdma.API, raft.rdma.api"})
    void shouldNameTheNearestKey(final String misspelt, final String nearest) {
        assertEquals(Optional.of(nearest), KnownKeys.meantBy(misspelt));
    }

    /** Each process warns once of a key, so no other test may use these. */
    @Test
    void shouldWarnOnceAtTheStartOfServersOfAKeyThatIsMisspelt() throws Exception {
        final RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(RaftPeerId.valueOf("s1"));
        when(server.getProperties()).thenReturn(properties);
        properties.set("raft.rdma.server.alowed", "10.0.0.0/8");
        try (Warnings warnings = new Warnings(RdmaConfigKeys.class)) {
            for (int i = 0; i < 2; i++) {
                new RdmaFactory(new RdmaRpcType()).newRaftServerRpc(server).close();
            }
            assertEquals(1, warnings.times("raft.rdma.server.alowed has no effect: there is no such setting. " +
                "The nearest one is raft.rdma.server.allowed"));
        }
    }

    @Test
    void shouldWarnOnceAtTheStartOfClientsOfAKeyThatIsMisspelt() throws Exception {
        properties.set("raft.rdma.secret.fille", "secret");
        try (Warnings warnings = new Warnings(RdmaConfigKeys.class)) {
            for (int i = 0; i < 2; i++) {
                new RdmaFactory(new RdmaRpcType()).newRaftClientRpc(ClientId.randomId(), properties).close();
            }
            assertEquals(1, warnings.times("raft.rdma.secret.fille has no effect: there is no such setting. " +
                "The nearest one is raft.rdma.secret.file"));
        }
    }

    @Test
    void shouldWarnBeforeAnInvalidSettingIsRefused() throws Exception {
        properties.set("raft.rdma.credit", "64");
        properties.set("raft.rdma.credits", "x");
        try (Warnings warnings = new Warnings(RdmaConfigKeys.class)) {
            assertThrows(IllegalArgumentException.class, () -> RdmaConfig.checkClient(properties));
            assertTrue(warnings.contains("raft.rdma.credit has no effect"));
        }
    }

    @Test
    void shouldNotWarnOfKnownKeysAndThoseOfOthers() throws Exception {
        KnownKeys.ALL.forEach(key -> properties.set(key, "1"));
        properties.set("raft.server.storage.dirs", "/tmp");
        properties.set("raft.rdmax", "1");
        try (Warnings warnings = new Warnings(RdmaConfigKeys.class)) {
            RdmaConfig.warnOfUnknownKeys(properties);
            assertEquals(0, warnings.times("no effect"));
        }
    }
}
