package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class AppendProfileTest {
    @ParameterizedTest
    @CsvSource({
        "shared-rdma-0-p, poller of all nodes",
        "server-1-rdma-p, servers' pollers or event loops",
        "server-1--threa, servers' pollers or event loops",
        "NettyRpcService, servers' pollers or event loops",
        "server-1-rdma-r, servers' handlers",
        "server-1-rdma-w, servers' threads for requests",
        "server-1-client, servers' threads for requests",
        "server-2-rdma-c, connections",
        "client-FD0C5342, 'client''s poller or event loop, timers'",
        "server-1@group-, 'engine: log, appenders, events, state machine'",
        "server-2-server, engine: executors of servers",
        "server-0-impl-t, engine: executors of servers",
        "java, thread that appends",
        "C2 CompilerThre, JVM: compilers",
        "GC Thread#0, JVM: the rest",
        "JvmPauseMonitor, others"
    })
    void shouldClassifyThreadsByTheirTruncatedNames(final String name, final String kind) {
        assertEquals(kind, AppendProfile.kind(name));
    }
}
