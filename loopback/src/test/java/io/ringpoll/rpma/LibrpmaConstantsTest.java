package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.testing.CHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** librpma's constants and structs as Java has them, against the installed header. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LibrpmaConstantsTest {
    /** Constants that have no use in Java: the number of an enum's values, and a null pointer. */
    private static final Set<String> LEFT_OUT = Set.of("RPMA_LOG_THRESHOLD_MAX", "RPMA_LOG_USE_DEFAULT_FUNCTION");

    @TempDir
    private Path folder;

    @BeforeAll
    static void requireHeader() {
        assumeTrue(Files.exists(LibrpmaHeader.PATH), "librpma.h is not installed (librpma-dev)");
    }

    @Test
    void shouldHaveTheConstantsOfTheHeader() {
        CHeaders.assertEqualToHeaders(folder, List.of("librpma.h"), constants());
    }

    @Test
    void shouldHaveEveryConstantOfTheHeader() {
        final TreeSet<String> declared = new LibrpmaHeader().constants();
        declared.removeAll(LEFT_OUT);
        declared.removeAll(constants().keySet());
        assertEquals(new TreeSet<>(), declared);
    }

    @Test
    void shouldLayPrivateDataOutAsTheHeaderDoes() {
        CHeaders.assertEqualToHeaders(folder, List.of("librpma.h"), Map.of(
            "sizeof(struct rpma_conn_private_data)", (long) ConnectionRequest.PRIVATE_DATA_BYTES,
            "offsetof(struct rpma_conn_private_data, ptr)", 0L,
            "offsetof(struct rpma_conn_private_data, len)", (long) ConnectionRequest.PRIVATE_DATA_LENGTH_OFFSET));
    }

    private static Map<String, Long> constants() {
        final Map<String, Long> constants = new TreeMap<>();
        for (int code = RpmaError.NOT_SHARED_CHNL; code <= RpmaError.UNKNOWN; code++) {
            constants.put(RpmaError.name(code), (long) code);
        }
        for (final LogLevel level : LogLevel.values()) {
            constants.put(level == LogLevel.DISABLED ? "RPMA_LOG_DISABLED" : "RPMA_LOG_LEVEL_" + level, (long) level.value());
        }
        for (final ConnectionEvent event : ConnectionEvent.values()) {
            constants.put("RPMA_CONN_" + event, (long) event.value());
        }
        for (final FlushType type : FlushType.values()) {
            constants.put("RPMA_FLUSH_TYPE_" + type, (long) type.value());
        }
        for (final CompletionFlag flag : CompletionFlag.values()) {
            constants.put("RPMA_F_COMPLETION_" + flag, (long) flag.value());
        }
        for (final MemoryUsage usage : MemoryUsage.values()) {
            constants.put(cName(usage), (long) usage.value());
        }
        for (final MemoryAdvice advice : MemoryAdvice.values()) {
            constants.put("IBV_ADVISE_MR_ADVICE_" + advice, (long) advice.value());
        }
        constants.put("IBV_ADVISE_MR_FLAG_FLUSH", (long) LocalMemoryRegion.ADVISE_FLAG_FLUSH);
        constants.put("RPMA_UTIL_IBV_CONTEXT_LOCAL", (long) Peer.CONTEXT_LOCAL);
        for (final MemoryAdvice advice : MemoryAdvice.values()) {
            constants.put("IBV_ADVISE_MR_ADVICE_" + advice, (long) advice.value());
        }
        constants.put("IBV_ADVISE_MR_FLAG_FLUSH", (long) LocalMemoryRegion.ADVISE_FLAG_FLUSH);
        constants.put("RPMA_UTIL_IBV_CONTEXT_REMOTE", (long) Peer.CONTEXT_REMOTE);
        constants.put("RPMA_LOG_THRESHOLD", (long) RpmaLog.THRESHOLD);
        constants.put("RPMA_LOG_THRESHOLD_AUX", (long) RpmaLog.THRESHOLD_AUX);
        constants.put("RPMA_W_WAIT_FOR_COMPLETION", (long) Connection.WAIT_FOR_COMPLETION);
        constants.put("RPMA_ATOMIC_WRITE_ALIGNMENT", (long) Connection.ATOMIC_WRITE_BYTES);
        constants.put("RPMA_DEFAULT_TIMEOUT_MS", defaultTimeoutMs());
        return constants;
    }

    private static long defaultTimeoutMs() {
        try (ConnectionConfig config = ConnectionConfig.create()) {
            return config.timeoutMs();
        }
    }

    private static String cName(final MemoryUsage usage) {
        return "RPMA_MR_USAGE_" + switch (usage) {
            case READ_SOURCE -> "READ_SRC";
            case READ_DESTINATION -> "READ_DST";
            case WRITE_SOURCE -> "WRITE_SRC";
            case WRITE_DESTINATION -> "WRITE_DST";
            case FLUSH_VISIBILITY -> "FLUSH_TYPE_VISIBILITY";
            case FLUSH_PERSISTENT -> "FLUSH_TYPE_PERSISTENT";
            case SEND -> "SEND";
            case RECEIVE -> "RECV";
        };
    }
}
