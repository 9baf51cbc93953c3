package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.testing.JavaProcess;
import java.io.File;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process without a flag of the JVM or without an artifact of the engine gets the missing one in one line. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class MissingPrerequisitesTest {
    private static final String OPENS = "the JVM needs the flag --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED: Agrona " +
        "accesses off-heap memory by this package";
    private static final String NATIVE = "the JVM needs the flag --enable-native-access=ALL-UNNAMED: the binding calls C";
    private static final String UNSAFE = "the JVM needs the flag --sun-misc-unsafe-memory-access=allow: the protobuf of Apache " +
        "Ratis uses sun.misc.Unsafe";
    private static final String METRICS = "the class path needs an artifact with the metrics registry of Apache Ratis: add " +
        "org.apache.ratis:ratis-metrics-default";

    @Test
    void shouldNameTheFlagThatAServerOrClientNeeds() {
        for (final String program : new String[] {"server", "client"}) {
            assertEquals(OPENS, JavaProcess.create().withoutFlag("--add-opens").run(Building.class, program));
            assertEquals(NATIVE, JavaProcess.create().withoutFlag("--enable-native-access")
                .option("--illegal-native-access=deny").run(Building.class, program));
            assertEquals(UNSAFE, JavaProcess.create().withoutFlag("--sun-misc-unsafe-memory-access")
                .option("--sun-misc-unsafe-memory-access=deny").run(Building.class, program));
        }
    }

    @Test
    void shouldNameTheArtifactThatAServerNeeds() {
        final String without = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("ratis-metrics-default")).collect(Collectors.joining(File.pathSeparator));
        assertEquals(METRICS, JavaProcess.create().classPath(without).run(Building.class, "server"));
        assertEquals("built", JavaProcess.create().classPath(without).run(Building.class, "client"));
    }

    /** Builds a server or a client, and prints the message of the exception. */
    static final class Building {
        private static final PrintStream OUT = System.out;

        private Building() {
        }

        public static void main(final String[] arguments) {
            final RaftProperties properties = new RaftProperties();
            RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
            RaftServerConfigKeys.setStorageDir(properties, List.of(new File(System.getProperty("java.io.tmpdir"), "not-made")));
            final RaftPeer peer = RaftPeer.newBuilder().setId("s0").setAddress("127.0.0.1:7491").build();
            final RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peer);
            final Callable<Object> build = arguments[0].equals("server") ?
                () -> RaftServer.newBuilder().setServerId(RaftPeerId.valueOf("s0")).setProperties(properties)
                    .setStateMachineRegistry(id -> new BaseStateMachine()).build() :
                () -> RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).build();
            try {
                build.call();
                OUT.println("built");
            } catch (final Throwable refused) {
                Throwable first = refused;
                while (first.getCause() instanceof IllegalStateException) {
                    first = first.getCause();
                }
                OUT.println(first instanceof IllegalStateException ? first.getMessage() : first);
            }
            System.exit(0);
        }
    }
}
