package io.ringpoll.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.CHeaders;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.MemoryLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Plans on the device itself, through librpma. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FaultInjectionTest {
    private final Completions completions = new Completions();

    @BeforeAll
    static void requireLoopback() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
    }

    @Test
    void shouldInjectFaultsAsPlanned() {
        final FaultPlan plan = FaultPlan.parse("seed=42,status:retry-exc-err:write@~50");
        try (FaultInjection injection = FaultInjection.apply(plan)) {
            for (int pairs = 0; pairs < 5; pairs++) {
                assertEquals(predicted(plan, 2 * pairs + 1), writesUntilFailure());
                assertEquals(pairs + 1, injection.injected());
            }
        }
    }

    private static int predicted(final FaultPlan plan, final int queuePair) {
        int n = 1;
        while (plan.trigger(FaultKind.STATUS, FaultOperation.WRITE, queuePair, n).isEmpty()) {
            n++;
        }
        return n;
    }

    private int writesUntilFailure() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            LocalMemoryRegion memory = pair.peer().allocate(64, MemoryUsage.values());
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor())) {
            for (int n = 1;; n++) {
                assertTrue(pair.client().write(remote, 0, memory, 0, 8, CompletionFlag.ALWAYS, n));
                final WorkCompletion wc = completions.awaitOne(pair.client().completionQueue());
                assertEquals(n, wc.workRequestId());
                if (wc.status() != WcStatus.SUCCESS) {
                    assertEquals(WcStatus.RETRY_EXC_ERR, wc.status());
                    return n;
                }
            }
        }
    }

    @Test
    void shouldEndTheConnectionOfBothSides() {
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("disconnect@1"));
            ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertEquals(ConnectionEvent.CLOSED, pair.client().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertEquals(ConnectionEvent.CLOSED, pair.server().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertEquals(1, injection.injected(0));
        }
    }

    @Test
    void shouldFailTheNthCallOfAFunctionAndNameTheErrno() {
        try (LogCapture log = new LogCapture(); Peer peer = Peer.ofLocal(TestDevice.address());
            FaultInjection injection = FaultInjection.apply(FaultPlan.parse("call:ibv_reg_mr:EDQUOT@2"))) {
            peer.allocate(64, MemoryUsage.SEND).close();
            final RpmaException refused = assertThrows(RpmaException.class, () -> peer.allocate(64, MemoryUsage.SEND));
            assertTrue(refused.getMessage().contains("EDQUOT"), refused.getMessage());
            peer.allocate(64, MemoryUsage.SEND).close();
            assertEquals(1, injection.injected());
        }
    }

    @Test
    void shouldKeepItsCountsWhenItIsOver() {
        final FaultInjection injection = FaultInjection.apply(FaultPlan.parse("full@1"));
        try (injection; ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals(false, pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> injection.injected(1));
        }
        assertEquals(1, injection.injected());
        assertThrows(IndexOutOfBoundsException.class, () -> injection.injected(1));
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
        }
        try (FaultInjection other = FaultInjection.apply(FaultPlan.parse("full@1"))) {
            injection.close();
            assertEquals(0, other.injected());
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                assertEquals(false, pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            }
            assertEquals(1, other.injected());
        }
    }

    @Test
    void shouldLayARuleOutAsTheHeaderDoes(@TempDir final Path folder) {
        final Map<String, Long> layout = new TreeMap<>();
        layout.put("sizeof(struct ringpoll_loopback_fault)", FaultInjection.FAULT.byteSize());
        FaultInjection.FAULT.memberLayouts().stream().flatMap(member -> member.name().stream()).forEach(name -> layout.put(
            "offsetof(struct ringpoll_loopback_fault, " + name + ")",
            FaultInjection.FAULT.byteOffset(MemoryLayout.PathElement.groupElement(name))));
        layout.put("RINGPOLL_LOOPBACK_FAULT_KINDS", (long) FaultKind.values().length);
        layout.put("RINGPOLL_LOOPBACK_OPERATIONS", (long) FaultOperation.values().length);
        Stream.of(FaultKind.values()).forEach(kind -> layout.put("RINGPOLL_LOOPBACK_FAULT_" + switch (kind) {
            case RECEIVER_NOT_READY -> "RNR";
            default -> kind.name();
        }, (long) kind.ordinal()));
        Stream.of(FaultOperation.values()).forEach(operation -> layout.put("RINGPOLL_LOOPBACK_OPERATION_" + switch (operation) {
            case WRITE_WITH_IMMEDIATE -> "WRITE_IMM";
            default -> operation.name();
        }, (long) operation.ordinal()));
        final Path header = Path.of("src/main/c/ringpoll_loopback.h").toAbsolutePath();
        CHeaders.assertEqualToHeaders(folder, List.of(header.toString()), layout);
    }
}
