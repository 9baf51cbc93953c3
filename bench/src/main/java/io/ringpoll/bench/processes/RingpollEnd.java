package io.ringpoll.bench.processes;

import io.ringpoll.bench.baseline.CEnd;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.device.Device;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Ringpoll at each end: a connection, and in each turn a pipeline whose handler runs to completion and answers. The same buffers
 * and signalled sends as in C (ends_device.c).
 *
 * <p>Used by the hot thread of the process, which sleeps during a turn; the poller is then the only hot thread.
 */
final class RingpollEnd implements End {
    private static final int RECEIVES = 16;
    private static final int SENDS_PER_SIGNAL = 16;
    /** As in the C baseline. */
    private static final int DEPTH = 64;
    private static final int STRIDE = 128;
    private static final int MEMORY_BYTES = (1 + RECEIVES) * STRIDE;
    private static final int TIMEOUT_MS = 30_000;
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(30);

    private final EndSettings settings;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Peer peer;
    private final LocalMemoryRegion region;
    private final UnsafeBuffer bytes;
    /** The last message: as in C, each one is copied out of its receive, and into the memory that is sent. */
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[CEnd.MESSAGE_BYTES]);
    private final ConnectionConfig config;
    private Endpoint endpoint;
    private Connection connection;
    private Turn turn;
    private Pipeline pipeline;
    /** Sends since the last signalled one, also of the previous turn. */
    private int unsignalled;

    /** The handler of a turn. Owned by the poller; the hot thread starts the client, and waits for the end. */
    private final class Turn implements CompletionHandler {
        private final long fromNs;
        private final long untilNs;
        private final Histogram halfNs = new Histogram(3);
        private final CountDownLatch end = new CountDownLatch(1);
        private long sentNs;
        private boolean last;
        private volatile String fault = "";

        Turn(final long fromNs, final long untilNs) {
            this.fromNs = fromNs;
            this.untilNs = untilNs;
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            final CompletionPath path = completion.path();
            if (path == CompletionPath.RECEIVE) {
                final long offset = completion.workRequestId();
                if (settings.isServer()) {
                    answer(offset);
                } else {
                    onAnswer(offset);
                }
            } else if (path == CompletionPath.ERROR) {
                fail("a work request has failed: " + completion);
            }
        }

        private void answer(final long offset) {
            take(offset);
            send();
            receive(offset);
            if (message.getLong(0) != 0) {
                end.countDown();
            }
        }

        private void onAnswer(final long offset) {
            take(offset);
            final long nowNs = System.nanoTime();
            if (last) {
                receive(offset);
                end.countDown();
                return;
            }
            if (sentNs - fromNs >= 0) {
                halfNs.recordValue((nowNs - sentNs) / 2);
            }
            ping();
            receive(offset);
        }

        void ping() {
            sentNs = System.nanoTime();
            last = sentNs - untilNs >= 0;
            message.putLong(0, last ? 1 : 0);
            send();
        }

        private void take(final long offset) {
            message.putBytes(0, bytes, (int) offset, CEnd.MESSAGE_BYTES);
        }

        private void send() {
            bytes.putBytes(0, message, 0, CEnd.MESSAGE_BYTES);
            final boolean signalled = ++unsignalled == SENDS_PER_SIGNAL;
            if (signalled) {
                unsignalled = 0;
            }
            if (!connection.send(
                region, 0, CEnd.MESSAGE_BYTES, signalled ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, 0)) {
                fail("the send queue is full");
            }
        }

        private void receive(final long offset) {
            if (!connection.receive(region, offset, STRIDE, offset)) {
                fail("the receive queue is full");
            }
        }

        private void fail(final String reason) {
            fault = reason;
            end.countDown();
        }
    }

    private RingpollEnd(final EndSettings settings) {
        this.settings = settings;
        final String host = Device.current().address().host();
        peer = opened(settings.isServer() ? Peer.ofLocal(host) : Peer.ofRemote(host));
        region = opened(peer.allocate(MEMORY_BYTES, MemoryUsage.SEND, MemoryUsage.RECEIVE));
        bytes = new UnsafeBuffer(region.memory().asByteBuffer());
        config = opened(ConnectionConfig.create().sqSize(DEPTH).rqSize(DEPTH).cqSize(4 * DEPTH));
    }

    /** The server's end. */
    static End listen(final EndSettings settings) {
        final RingpollEnd end = new RingpollEnd(settings);
        end.endpoint = end.opened(end.peer.listen(Device.current().address().host(), "0"));
        return end;
    }

    /** The client's end; the place is the server's port. */
    static End connect(final EndSettings settings, final String place) {
        final RingpollEnd end = new RingpollEnd(settings);
        end.establish(end.peer.request(Device.current().address().host(), place, end.config));
        return end;
    }

    @Override
    public void accept() {
        establish(endpoint.nextRequest(config, TIMEOUT_MS)
            .orElseThrow(() -> new IllegalStateException("no connection request within " + TIMEOUT_MS + " ms")));
    }

    private void establish(final ConnectionRequest request) {
        for (int i = 1; i <= RECEIVES; i++) {
            request.receive(region, i * STRIDE, STRIDE, i * STRIDE);
        }
        connection = opened(request.connect());
        final Optional<ConnectionEvent> event = connection.nextEvent(TIMEOUT_MS);
        if (!event.equals(Optional.of(ConnectionEvent.ESTABLISHED))) {
            throw new IllegalStateException(connection.name() + " was not established: " + event);
        }
    }

    @Override
    public void prepare(final long fromNs, final long untilNs) {
        turn = new Turn(fromNs, untilNs);
        if (!settings.isServer()) {
            // Before the pipeline starts: from then on its poller sends.
            turn.ping();
        }
        final PipelineBuilder builder = Pipeline.builder().name("bench-ringpoll-" + settings.name()).withoutCountersFile()
            .idleStrategy(IdleStrategies.ofPoller(settings.yields() ? WaitMode.YIELD : WaitMode.BUSY_SPIN))
            .runToCompletion().onAll(turn)
            // The receives bound the work requests in flight.
            .queue(connection.completionQueue().withoutBudget());
        pipeline = (settings.cpu() == HotCpus.ANY ? builder : builder.pollerCpu(settings.cpu())).start();
    }

    @Override
    public EndFigures run(final long fromNs, final long untilNs) throws TimeoutException, InterruptedException {
        if (!turn.end.await(untilNs + GRACE_NS - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("the last message of the turn is missing; failure " + pipeline.failure());
        }
        if (!turn.fault.isEmpty()) {
            throw new IllegalStateException(turn.fault);
        }
        return settings.isServer() ? EndFigures.NONE : EndFigures.of(turn.halfNs);
    }

    @Override
    public void finish() {
        CloseHelper.close(pipeline);
        pipeline = null;
    }

    @Override
    public String place() {
        return Integer.toString(endpoint.port());
    }

    private <T extends AutoCloseable> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            CloseHelper.close(opened.pop());
        }
    }
}
