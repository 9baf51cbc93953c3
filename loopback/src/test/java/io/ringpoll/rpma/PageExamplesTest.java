package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.SelfConnectedQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples on the pages about the binding: they are the code of this class, and it runs. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PageExamplesTest {
    private static final Path SOURCE = Path.of("src", "test", "java", "io", "ringpoll", "rpma", "PageExamplesTest.java");

    private final Completions completions = new Completions();
    private final WorkCompletions records = completions.records();
    private final int timeoutMs = ConnectedPair.TIMEOUT_MS;

    @ParameterizedTest
    @ValueSource(strings = {"binding.md", "completions.md", "migration.md"})
    void shouldShowOnlyCodeThatRuns(final String page) throws IOException {
        final String code = normalized(Files.readString(SOURCE));
        boolean inExample = false;
        int lines = 0;
        for (final String line : Files.readAllLines(Path.of("..", "docs", "reference", page))) {
            if (line.strip().startsWith("```")) {
                inExample = line.strip().equals("```java");
            } else if (inExample && !line.isBlank()) {
                assertTrue(code.contains(normalized(line)), () -> page + ": " + line);
                lines++;
            }
        }
        assertTrue(lines > 0, "no example");
    }

    @Test
    void shouldRunTheClient() {
        final String port = ConnectedPair.anyPort();
        try (Peer server = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion target = server.allocate(1024, MemoryUsage.WRITE_DESTINATION);
            Endpoint endpoint = server.listen(TestDevice.address(), port)) {
            final OtherThread<Void> client = OtherThread.run(() -> {
                client(TestDevice.address(), port);
                return null;
            });
            try (Connection connection = endpoint.nextRequest(timeoutMs).orElseThrow().connect(target.descriptor())) {
                assertEquals(ConnectionEvent.ESTABLISHED, connection.nextEvent(timeoutMs).orElseThrow());
                assertEquals(ConnectionEvent.CLOSED, connection.nextEvent(timeoutMs).orElseThrow());
                connection.disconnect();
                client.result();
            }
        }
    }

    @Test
    void shouldReadTheSameByTheOldCallAndTheNew() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion memory = pair.memory(64);
            final RemoteMemoryRegion remote = pair.remote(memory);
            assertTrue(pair.client().read(memory, 0, remote, 32, 8, CompletionFlag.ALWAYS, 7));
            assertEquals(List.of(7L, 8L), byTheOldCall(pair.client()));
            assertTrue(pair.client().read(memory, 0, remote, 32, 8, CompletionFlag.ALWAYS, 7));
            assertEquals(List.of(7L, 8L), byTheNewCall(pair.client(), records));
        }
    }

    @Test
    void shouldSleepAndWake() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            VerbsCompletionQueue queue = pair.client().completionQueue().openVerbs();
            CompletionChannel channel = CompletionChannel.borrow(queue)) {
            final OtherThread<Void> sleeper = OtherThread.run(() -> {
                sleep(queue, channel);
                return null;
            });
            sleeper.requireWaiting();
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            sleeper.result();
            assertEquals(1, queue.unacknowledgedEvents(), "it woke without an event");
            completions.await(queue, 1);
        }
    }

    @Test
    void shouldReadTimestamps() {
        try (SelfConnectedQueue loop = new SelfConnectedQueue("loop", true)) {
            final VerbsContext context = loop.context();
            final long beforeNs = System.nanoTime();
            VerbsCompletionQueue fills = VerbsCompletionQueue.createWithTimestamps(context, "fills", 1024, null);
            DeviceClock clock = DeviceClock.of(context);                     // one for each thread that converts
            WorkCompletions own = WorkCompletions.allocate(16);
            if (fills.poll(own, 0, 16) > 0) {
                long ticks = own.timestamp(0);                               // in a handler: wc.completionTimestamp()
                long ageNs = System.nanoTime() - clock.nanoTime(ticks);
                long wallClockNs = clock.epochNanos(ticks);                  // since 1970
                assertTrue(ageNs < System.nanoTime() - beforeNs && wallClockNs > 0);
            }
            fills.close();
        }
    }

    @Test
    void shouldCreateAQueueWithAChannel() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final VerbsContext context = peer.context();
            final int n = 8;
            CompletionChannel channel = CompletionChannel.create(context);
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(context, "mine", n, channel);
            queue.requestNotification(false);
            assertEquals(0, queue.poll(records, 0, n));
            queue.close();
            channel.close();
        }
    }

    private void client(final String address, final String port) {
        try (Peer peer = Peer.ofRemote(address);
             LocalMemoryRegion memory = peer.allocate(1024, MemoryUsage.WRITE_SOURCE);
             Connection connection = peer.request(address, port).connect()) {
            connection.nextEvent(timeoutMs);                            // ESTABLISHED
            try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
                boolean posted = connection.write(remote, 0, memory, 0, 64, CompletionFlag.ALWAYS, 42);
                int got = connection.completionQueue().poll(records, 0, 16);
                assertTrue(posted && got >= 0);
                connection.disconnect();
            }
        }
    }

    private static List<Long> byTheOldCall(final Connection connection) {
        RpmaCompletionQueue queue = connection.completionQueue();
        LegacyCompletion completion = new LegacyCompletion();
        int result = queue.getCompletion(completion);
        if (result != RpmaError.SUCCESS) {
            errorHandlingCode();
        }
        if (completion.opStatus() != WcStatus.SUCCESS) {
            errorHandlingCode();
        }
        if (completion.op() != LegacyOp.READ) {
            errorHandlingCode();
        }
        long opContext = completion.opContext();
        int byteLen = completion.byteLen();
        int flags = completion.flags();
        int imm = completion.imm();
        return List.of(opContext, (long) byteLen + flags + imm);
    }

    private static List<Long> byTheNewCall(final Connection connection, final WorkCompletions records) {
        RpmaCompletionQueue queue = connection.completionQueue();
        WorkCompletion wc = records.show(0, new WorkCompletion());      // records: WorkCompletions.allocate(1)
        int got = queue.poll(records, 0, 1);                            // 0: empty; negative: the queue has failed
        if (got < 0) {
            errorHandlingCode();
        }
        if (wc.status() != WcStatus.SUCCESS) {
            errorHandlingCode();
        }
        if (wc.opcode() != WcOpcode.RDMA_READ) {
            errorHandlingCode();
        }
        long opContext = wc.workRequestId();
        int byteLen = wc.lengthBytes();
        int flags = wc.flags();
        int imm = 0;
        if (wc.hasImmediate()) {
            imm = wc.immediate();
        }
        return List.of(opContext, (long) byteLen + flags + imm);
    }

    private void sleep(final VerbsCompletionQueue queue, final CompletionChannel channel) {
        final int n = 1;
        queue.requestNotification(false);                  // arm
        if (queue.poll(records, 0, n) == 0                 // final poll: earlier completions raise no event
                && channel.await(timeoutMs) == queue) {    // sleep, wake
            queue.requestNotification(false);              // arm again, then poll until empty
        }
    }

    private static void errorHandlingCode() {
        fail("an error");
    }

    /** Code without comments and spaces, so that pages may lay it out as they need. */
    private static String normalized(final String text) {
        try (Stream<String> lines = text.lines()) {
            return lines.map(line -> line.replaceAll("//.*", "").replaceAll("\\s", "")).collect(Collectors.joining());
        }
    }
}
