package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Posts that a completion queue may have no room for are refused, on the device under test. */
@Tag(TestDevice.TAG)
@Timeout(60)
class CompletionBudgetTest {
    private static final int MANY = 2000;

    private final Completions completions = new Completions(256);

    @Test
    void shouldRefuseADepthForWhichThereIsNoArray() {
        for (final int depth : new int[] {-1, 0, (1 << 29) + 1, 1 << 30, Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> new CompletionBudget(depth), depth + " completions");
        }
    }

    @Test
    void shouldRefuseThePostThatCouldOverrunTheQueue() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(4).sqSize(MANY))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            for (int i = 0; i < budget.depth(); i++) {
                assertTrue(post(pair, CompletionFlag.ALWAYS, i));
            }
            assertFalse(post(pair, CompletionFlag.ALWAYS, -1));
            assertEquals(1, budget.refused());
            assertEquals(budget.depth(), budget.inFlight());
            for (int i = 0; i < budget.depth(); i++) {
                assertEquals(i, completions.awaitOne(pair.client().completionQueue()).workRequestId());
            }
            assertEquals(0, budget.inFlight());
            assertTrue(post(pair, CompletionFlag.ALWAYS, 7));
        }
    }

    @Test
    void shouldRetireEachFailureOnceHoweverManyThereAre() {
        final CompletionBudget budget = new CompletionBudget(31);
        budget.classify();
        assertTrue(budget.reserveSend(true, false));
        budget.onPolled(CompletionPath.SEND_WRITE);
        int inFlight = 0;
        for (int failures = 0; failures < 500; failures++) {
            while (inFlight < budget.depth()) {
                assertTrue(budget.reserveSend(true, false), failures + " failures");
                inFlight++;
            }
            assertFalse(budget.reserveSend(true, false), failures + " failures");
            budget.onPolled(CompletionPath.ERROR);
            inFlight--;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8, 20, 500})
    void shouldKnowTheLastSuccessIfAnUnsignalledRequestComesAfterFailures(final int failures) {
        final CompletionBudget budget = new CompletionBudget(8);
        // As if receives of others completed there, too: so failures are counted apart.
        budget.classify();
        for (int i = 0; i < 3; i++) {
            assertTrue(budget.reserveSend(true, false));
            budget.onPolled(CompletionPath.SEND_WRITE);
        }
        for (int i = 0; i < failures; i++) {
            assertTrue(budget.reserveSend(true, false));
            budget.onPolled(CompletionPath.ERROR);
        }
        for (int i = 1; i <= budget.depth(); i++) {
            assertTrue(budget.reserveSend(i % 2 == 0, false));
            assertEquals(i, budget.inFlight());
        }
        assertFalse(budget.reserveSend(false, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 7, 8, 9, 1000})
    void shouldRetireRequestsOnceThoughUnsignalledOnesBeginLate(final int signalledBefore) {
        final CompletionBudget budget = new CompletionBudget(8);
        for (int i = 0; i < signalledBefore; i++) {
            assertTrue(budget.reserveSend(true, false));
            if (i >= 3) {
                polled(budget, BudgetModel.SENT);
            }
        }
        final int left = Math.min(signalledBefore, 3);
        assertEquals(left, budget.inFlight());
        assertTrue(budget.reserveSend(false, false));
        assertTrue(budget.reserveSend(true, false));
        for (int i = 0; i < left; i++) {
            polled(budget, BudgetModel.SENT);
            assertEquals(left - i + 1, budget.inFlight());
        }
        polled(budget, BudgetModel.SENT);
        assertEquals(0, budget.inFlight());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRetireEachFailureOnceByItsPathAndByItsRecord(final boolean receives) {
        final CompletionBudget budget = new CompletionBudget(7);
        for (int failures = 0; failures < 10 * budget.depth(); failures++) {
            while (budget.inFlight() < budget.depth()) {
                assertTrue(receives ? budget.reserveReceive(false) : budget.reserveSend(true, false), failures + " failures");
            }
            if (failures < 5 * budget.depth()) {
                budget.onPolled(CompletionPath.ERROR);
            } else {
                polled(budget, BudgetModel.FAILED);
            }
            assertEquals(budget.depth() - 1, budget.inFlight(), failures + " failures");
        }
    }

    @Test
    void shouldForgetWhatWasCancelled() {
        final CompletionBudget budget = new CompletionBudget(8);
        for (final boolean signalled : new boolean[] {true, false}) {
            assertTrue(budget.reserveSend(signalled, false));
            assertEquals(1, budget.inFlight());
            budget.cancelSend(signalled);
            assertEquals(0, budget.inFlight());
            assertTrue(budget.reserveReceive(false));
            assertEquals(1, budget.inFlight());
            budget.cancelReceive();
            assertEquals(0, budget.inFlight());
        }
        assertTrue(budget.reserveSend(false, false));
        assertTrue(budget.reserveSend(true, false));
        polled(budget, BudgetModel.SENT);
        assertEquals(0, budget.inFlight());
    }

    @Test
    void shouldIgnoreThePathOfARequestThatIsNotCounted() {
        final CompletionBudget budget = new CompletionBudget(2);
        for (final CompletionPath path : CompletionPath.values()) {
            budget.onPolled(path);
        }
        assertTrue(budget.reserveSend(true, false));
        assertTrue(budget.reserveReceive(false));
        assertFalse(budget.reserveSend(true, false));
        assertEquals(2, budget.inFlight());
    }

    @Test
    void shouldOverrunWithoutABudget() throws InterruptedException {
        final CountDownLatch overrun = new CountDownLatch(1);
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(4).sqSize(MANY));
            AsyncEvents.Subscription subscription = AsyncEvents.listen(pair.peer().context(), event -> {
                if (event.type() == AsyncEventType.CQ_ERR) {
                    overrun.countDown();
                }
            })) {
            pair.client().completionQueue().withoutBudget();
            for (int i = 0; i < MANY && post(pair, CompletionFlag.ALWAYS, i); i++) {
                Thread.onSpinWait();
            }
            assertTrue(overrun.await(10, TimeUnit.SECONDS), "the queue has not overrun");
        }
    }

    @Test
    void shouldCountUnsignalledRequestsUntilASignalledOneRetiresThem() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(8).sqSize(MANY))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            for (int i = 0; i < budget.depth() - 1; i++) {
                assertTrue(post(pair, CompletionFlag.ON_ERROR, i));
            }
            assertEquals(budget.depth() - 1, budget.inFlight());
            assertTrue(post(pair, CompletionFlag.ALWAYS, 100));
            assertFalse(post(pair, CompletionFlag.ON_ERROR, 101));
            assertEquals(100, completions.awaitOne(pair.client().completionQueue()).workRequestId());
            assertEquals(0, budget.inFlight());
            assertTrue(post(pair, CompletionFlag.ON_ERROR, 102));
        }
    }

    @Test
    void shouldRetireUnsignalledRequestsByTheirFlushErrors() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(16).sqSize(MANY).rqSize(8))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            final LocalMemoryRegion memory = pair.memory(64);
            // No receive meets them: they wait until the connection ends.
            for (int i = 0; i < 4; i++) {
                assertTrue(pair.client().receive(memory, 0, 8, 1000 + i));
            }
            int posted = 4;
            while (pair.client().send(memory, 0, 8, CompletionFlag.ON_ERROR, posted)) {
                posted++;
            }
            assertEquals(budget.depth(), posted);
            pair.client().disconnect();
            for (int i = 0; i < posted; i++) {
                assertTrue(completions.awaitOne(pair.client().completionQueue()).status() != WcStatus.SUCCESS);
            }
            assertEquals(0, pair.client().completionQueue().poll(completions.records(), 0, 1));
            assertEquals(0, budget.inFlight());
        }
    }

    @Test
    void shouldCountReceivesWhereTheyComplete() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(8).rcqSize(4).rqSize(MANY))) {
            final RpmaCompletionQueue queue = pair.server().receiveCompletionQueue().orElseThrow();
            final LocalMemoryRegion memory = pair.memory(64);
            for (int i = 0; i < queue.budget().depth(); i++) {
                assertTrue(pair.server().receive(memory, 0, 8, i));
            }
            assertFalse(pair.server().receive(memory, 0, 8, -1));
            assertEquals(0, pair.server().completionQueue().budget().inFlight());
            assertTrue(pair.client().send(memory, 0, 8, CompletionFlag.ALWAYS, 1));
            assertEquals(0, completions.awaitOne(queue).workRequestId());
            assertTrue(pair.server().receive(memory, 0, 8, 9));
            assertEquals(queue.budget().depth(), queue.budget().inFlight());
        }
    }

    @Test
    void shouldCountReceivesPostedBeforeTheConnection() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.RECEIVE);
            Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            final ConnectionRequest request = peer.request(TestDevice.address(), port);
            assertTrue(request.receive(memory, 0, 8, 1));
            assertTrue(request.receive(memory, 0, 8, 2));
            try (Connection connection = request.connect()) {
                assertEquals(2, connection.completionQueue().budget().inFlight());
                endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow().close();
            }
        }
    }

    @Test
    void shouldRefuseReceivesBeforeTheConnectionThatItsQueueCannotHold() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.RECEIVE);
            Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionConfig sizes = ConnectionConfig.create().rqSize(MANY).cqSize(20)) {
            for (final int rcqSize : new int[] {0, 12}) {
                try (Connection client = peer.request(TestDevice.address(), port, sizes.rcqSize(rcqSize)).connect()) {
                    final ConnectionRequest request =
                        endpoint.nextRequest(sizes, ConnectedPair.TIMEOUT_MS).orElseThrow();
                    final OtherThread<Integer> other = OtherThread.run(() -> accepted(request, memory));
                    final int accepted = accepted(request, memory) + other.result();
                    assertEquals(rcqSize == 0 ? 20 : 12, accepted);
                    try (Connection server = request.connect()) {
                        assertEquals(ConnectionEvent.ESTABLISHED, client.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
                        assertEquals(ConnectionEvent.ESTABLISHED, server.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
                        final RpmaCompletionQueue queue = server.receiveCompletionQueue().orElse(server.completionQueue());
                        for (int left = accepted; left > 0; left--) {
                            assertEquals(left, queue.budget().inFlight());
                            assertTrue(client.send(null, 0, 0, CompletionFlag.ALWAYS, left));
                            completions.awaitOne(client.completionQueue());
                            completions.awaitOne(queue);
                        }
                        assertEquals(0, queue.budget().inFlight());
                    }
                }
            }
        }
    }

    @Test
    void shouldRefuseReceivesBeforeTheConnectionByTheDefaultSizes() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.RECEIVE);
            ConnectionConfig defaults = ConnectionConfig.create();
            ConnectionRequest request = peer.request(TestDevice.address(), ConnectedPair.anyPort())) {
            assertEquals(defaults.cqSize(), accepted(request, memory));
        }
    }

    private static int accepted(final ConnectionRequest request, final LocalMemoryRegion memory) {
        int accepted = 0;
        while (accepted < MANY && request.receive(memory, 0, 8, accepted)) {
            accepted++;
        }
        return accepted;
    }

    @Test
    void shouldCountTheReceivesOfASharedReceiveQueue() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(MANY).rcqSize(4);
            SharedReceiveQueue queue = peer.sharedReceiveQueue(config);
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.RECEIVE)) {
            final CompletionBudget budget = queue.receiveCompletionQueue().orElseThrow().budget();
            int posted = 0;
            while (queue.receive(memory, 0, 8, posted)) {
                posted++;
            }
            assertEquals(budget.depth(), posted);
        }
    }

    @Test
    void shouldRetireCompletionsPolledFromTheVerbsQueue() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            VerbsCompletionQueue view = pair.client().completionQueue().openVerbs()) {
            assertTrue(post(pair, CompletionFlag.ALWAYS, 1));
            assertEquals(1, view.budget().inFlight());
            completions.awaitOne(view);
            assertEquals(0, pair.client().completionQueue().budget().inFlight());
        }
    }

    @Test
    void shouldNeverOverrunHoweverPostingAndPollingMeet() {
        // On a busy machine as many as fit into the time.
        final AtomicInteger signalled = new AtomicInteger(TestDevice.isShort() ? 500 : 20_000);
        final AtomicLong polled = new AtomicLong();
        final AtomicInteger failed = new AtomicInteger();
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(16).sqSize(MANY))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            final OtherThread<Void> poller = OtherThread.run(() -> {
                final Random random = new Random(1);
                long expected = 0;
                while (expected < signalled.get()) {
                    final int count = pair.client().completionQueue().poll(completions.records(), 0, 1 + random.nextInt(20));
                    if (count < 0) {
                        failed.set(count);
                        return null;
                    }
                    for (int i = 0; i < count; i++) {
                        assertEquals(WcStatus.SUCCESS, completions.at(i).status());
                        assertEquals(expected++, completions.at(i).workRequestId());
                    }
                    polled.set(expected);
                    pause(random.nextInt(300));
                }
                return null;
            });
            final Random random = new Random(2);
            final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            int next = 0;
            int unsignalled = 0;
            while (next < signalled.get() && failed.get() == 0) {
                if (System.nanoTime() > endNs) {
                    signalled.set(next + 1);
                }
                // One place is kept for the request that retires the unsignalled ones.
                if (unsignalled < budget.depth() - 1 && random.nextBoolean()) {
                    unsignalled += post(pair, CompletionFlag.ON_ERROR, -1) ? 1 : 0;
                } else if (post(pair, CompletionFlag.ALWAYS, next)) {
                    next++;
                    unsignalled = 0;
                } else {
                    Thread.yield();
                }
            }
            poller.result();
            assertEquals(0, failed.get());
            assertEquals(signalled.get(), polled.get());
            assertEquals(0, budget.inFlight());
            assertTrue(budget.refused() > 0 || TestDevice.isShort(), "the budget was never reached");
        }
    }

    @Test
    void shouldCountExactlyHoweverManyThreadsPostToBothQueues() {
        final int each = TestDevice.isShort() ? 100 : 5000;
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(16).sqSize(MANY).rqSize(MANY))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            final LocalMemoryRegion memory = pair.memory(64);
            final List<OtherThread<Void>> posters = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                posters.add(postEach(each, id -> post(pair, CompletionFlag.ALWAYS, id)));
            }
            posters.add(postEach(each, id -> pair.client().receive(memory, 0, 8, each + id)));
            posters.add(postEach(each, id -> {
                if (!pair.server().send(memory, 0, 8, CompletionFlag.ALWAYS, id)) {
                    return false;
                }
                new Completions(1).awaitOne(pair.server().completionQueue());
                return true;
            }));
            final int[] seen = new int[2 * each];
            for (int i = 0; i < 3 * each; i++) {
                final WorkCompletion completion = completions.awaitOne(pair.client().completionQueue());
                assertEquals(WcStatus.SUCCESS, completion.status());
                seen[(int) completion.workRequestId()]++;
            }
            posters.forEach(OtherThread::result);
            assertEquals(0, pair.client().completionQueue().poll(completions.records(), 0, 1));
            assertEquals(0, budget.inFlight());
            for (int id = 0; id < 2 * each; id++) {
                assertEquals(id < each ? 2 : 1, seen[id], "completions of " + id);
            }
        }
    }

    @Test
    void shouldReleaseTheReservationOfARefusedPost() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(MANY).sqSize(8).rqSize(8))) {
            final CompletionBudget budget = pair.client().completionQueue().budget();
            final LocalMemoryRegion memory = pair.memory(64);
            final RemoteMemoryRegion remote = pair.remote(memory);
            assertThrows(RpmaException.class, () -> pair.client().atomicWrite(remote, 4, 1, CompletionFlag.ALWAYS, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> pair.client().receive(memory, 64, 1, 1));
            assertThrows(NullPointerException.class, () -> pair.client().write(remote, 0, memory, 0, 8, null, 1));
            assertEquals(0, budget.inFlight());
            int posted = 0;
            while (pair.client().receive(memory, 0, 8, posted)) {
                posted++;
            }
            assertTrue(posted < budget.depth(), "the receive queue is as large as the completion queue");
            assertEquals(posted, budget.inFlight());
            while (pair.client().send(memory, 0, 8, CompletionFlag.ALWAYS, posted)) {
                posted++;
            }
            assertEquals(posted, budget.inFlight());
            assertEquals(0, budget.refused());
        }
    }

    @Test
    void shouldAdmitNoMorePostsAfterUncountedCompletions() {
        final CompletionBudget budget = new CompletionBudget(3);
        budget.onPolled(CompletionPath.RECEIVE);
        budget.onPolled(CompletionPath.SEND_WRITE);
        for (int i = 0; i < 3; i++) {
            assertTrue(budget.reserveSend(false, false));
        }
        assertFalse(budget.reserveSend(false, false));
        assertEquals(3, budget.inFlight());
    }

    @Test
    void shouldRetireSignalledSendsByTheirNumberWithoutReadingTheRecords() {
        final CompletionBudget budget = new CompletionBudget(8);
        for (int i = 0; i < 5; i++) {
            assertTrue(budget.reserveSend(true, false));
        }
        // Were they read, none of these would retire a send.
        polled(budget, BudgetModel.RECEIVED, BudgetModel.RECEIVED, BudgetModel.RECEIVED);
        assertEquals(2, budget.inFlight());
    }

    @Test
    void shouldRetireReceivesByTheirNumberWithoutReadingTheRecords() {
        final CompletionBudget budget = new CompletionBudget(8);
        for (int i = 0; i < 5; i++) {
            assertTrue(budget.reserveReceive(false));
        }
        polled(budget, BudgetModel.SENT, BudgetModel.SENT, BudgetModel.SENT);
        assertEquals(2, budget.inFlight());
    }

    @Test
    void shouldClassifyFromTheFirstUnsignalledSendOn() {
        final CompletionBudget budget = new CompletionBudget(16);
        for (int i = 0; i < 3; i++) {
            assertTrue(budget.reserveSend(true, false));
        }
        polled(budget, BudgetModel.SENT);
        for (final boolean signalled : new boolean[] {false, false, true, false, true}) {
            assertTrue(budget.reserveSend(signalled, false));
        }
        for (final int inFlight : new int[] {6, 5, 2, 0}) {
            polled(budget, BudgetModel.SENT);
            assertEquals(inFlight, budget.inFlight());
        }
    }

    @Test
    void shouldClassifyFromTheFirstReceiveOn() {
        final CompletionBudget budget = new CompletionBudget(16);
        assertTrue(budget.reserveSend(true, false));
        assertTrue(budget.reserveSend(true, false));
        polled(budget, BudgetModel.SENT);
        assertTrue(budget.reserveReceive(false));
        polled(budget, BudgetModel.SENT, BudgetModel.RECEIVED);
        assertEquals(0, budget.inFlight());
        assertTrue(budget.reserveReceive(false));
        assertTrue(budget.reserveSend(false, false));
        assertTrue(budget.reserveSend(true, false));
        polled(budget, BudgetModel.RECEIVED);
        assertEquals(2, budget.inFlight());
        polled(budget, BudgetModel.SENT);
        assertEquals(0, budget.inFlight());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRetireEachOnceWhenAThreadPollsTheQueueOfAPoller(final boolean classified) {
        final int depth = 1 << 20;
        final CompletionBudget budget = new CompletionBudget(depth);
        if (classified) {
            budget.classify();
        }
        BudgetModel.polled(new CompletionBudget(1), completions, 2, BudgetModel.RECEIVED, BudgetModel.RECEIVED);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < depth; i++) {
                assertTrue(budget.reserveReceive(false));
            }
            final CyclicBarrier start = new CyclicBarrier(2);
            final OtherThread<Void> poller =
                retireEach(start, depth / 2, () -> budget.onPolledByPoller(completions.records(), 0, 1));
            final OtherThread<Void> other =
                retireEach(start, depth / 2, () -> budget.onPolled(completions.records(), 1, 1));
            poller.result();
            other.result();
            assertEquals(0, budget.inFlight());
        }
    }

    @Test
    void shouldRetireNothingForAPollThatFoundNothing() {
        final CompletionBudget budget = new CompletionBudget(16);
        assertTrue(budget.reserveReceive(false));
        assertTrue(budget.reserveSend(true, false));
        // The records of an earlier poll.
        BudgetModel.polled(budget, completions, 1, BudgetModel.RECEIVED);
        assertTrue(budget.reserveReceive(false));
        budget.onPolled(completions.records(), 0, 0);
        assertEquals(2, budget.inFlight());
        budget.onPolled(completions.records(), completions.records().capacity(), 0);
        assertEquals(2, budget.inFlight());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 16, 100})
    void shouldCountExactlyAsTheModelOfAQueuePair(final int depth) {
        for (long seed = 0; seed < 600; seed++) {
            final BudgetModel model = new BudgetModel(depth, seed);
            for (int step = 0; step < 300; step++) {
                model.step();
                assertEquals(model.inFlight(), model.budget().inFlight(), "seed " + seed + ", step " + step);
            }
        }
    }

    @Test
    void shouldNotRetireSendsByTheReceivesOfASharedQueue() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.SEND, MemoryUsage.RECEIVE);
            SharedReceiveQueueConfig sizes = SharedReceiveQueueConfig.create().rqSize(16).rcqSize(0);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(sizes);
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared).cqSize(16);
            Endpoint endpoint = peer.listen(TestDevice.address(), port);
            Connection client = peer.request(TestDevice.address(), port).connect();
            Connection server = endpoint.nextRequest(config, ConnectedPair.TIMEOUT_MS).orElseThrow().connect()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertEquals(ConnectionEvent.ESTABLISHED, server.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            // No receive meets them: they wait until the connection ends.
            for (int i = 0; i < 3; i++) {
                assertTrue(server.send(memory, 0, 8, CompletionFlag.ALWAYS, i));
                assertTrue(shared.receive(memory, 0, 8, 10 + i));
            }
            for (int i = 0; i < 3; i++) {
                assertTrue(client.send(memory, 0, 8, CompletionFlag.ALWAYS, i));
                assertEquals(10 + i, completions.awaitOne(server.completionQueue()).workRequestId());
            }
            assertEquals(3, server.completionQueue().budget().inFlight());
        }
    }

    private static void polled(final CompletionBudget budget, final int... outcomes) {
        BudgetModel.polled(budget, new Completions(outcomes.length), outcomes.length, outcomes);
    }

    @Test
    void shouldAllocateNothing() {
        final CompletionBudget budget = new CompletionBudget(64);
        Allocation.assertNone(() -> {
            if (!budget.reserveSend(true, false)) {
                budget.onPolled(CompletionPath.SEND_WRITE);
            }
        });
    }

    private static boolean post(final ConnectedPair pair, final CompletionFlag flag, final long id) {
        return pair.client().write(null, 0, null, 0, 0, flag, id);
    }

    private static OtherThread<Void> postEach(final int count, final IntPredicate post) {
        return OtherThread.run(() -> {
            for (int id = 0; id < count; id++) {
                while (!post.test(id)) {
                    Thread.yield();
                }
            }
            return null;
        });
    }

    private static OtherThread<Void> retireEach(final CyclicBarrier start, final int count, final Runnable onPolled) {
        return OtherThread.run(() -> {
            start.await();
            for (int i = 0; i < count; i++) {
                onPolled.run();
            }
            return null;
        });
    }

    private static void pause(final int spins) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }
}
