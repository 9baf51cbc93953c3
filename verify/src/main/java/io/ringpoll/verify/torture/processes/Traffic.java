package io.ringpoll.verify.torture.processes;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.pipeline.PipelineGroup;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** The connections between two processes, as one of them sees them; belongs to one thread. */
final class Traffic implements AutoCloseable {
    private static final int LOOK_MS = 5;

    private final Registry registry;
    private final PipelineGroup group;
    private final RcPeer peer;
    private final Life life;
    private final boolean ofPeer;
    private final Journal journal;
    private final Runnable tick;
    private final List<End> ends = new ArrayList<>();
    private final List<End> established = new ArrayList<>();
    private final List<CompletionQueue> queues = new ArrayList<>();
    private volatile long progress;

    /**
     * Prepares connections.
     *
     * @param registry of the process
     * @param group    polls the queues
     * @param peer     of the device
     * @param life     of the peer's process
     * @param ofPeer   whether this is the peer's process, and not the survivor
     * @param journal  receives the counts; null for none
     * @param tick     called again and again while the calling thread waits for the other process
     */
    Traffic(final Registry registry, final PipelineGroup group, final RcPeer peer, final Life life, final boolean ofPeer,
        final Journal journal, final Runnable tick) {
        this.registry = registry;
        this.group = group;
        this.peer = peer;
        this.life = life;
        this.ofPeer = ofPeer;
        this.journal = journal;
        this.tick = tick;
    }

    /** A queue of n is granted as up to 2n - 1: as many sends must leave room for the receives, or both sides wait in vain. */
    private RcConfig config() {
        return RcConfig.of(life.depth(), life.receives(),
            life.receiveQueue() ? life.depth() + 1 : 2 * life.depth() + life.receives())
            .withReceiveQueue(life.receiveQueue() ? life.receives() : 0).withSharedChannel(life.shared());
    }

    private End add() {
        final End end = new End(registry, peer, life, ends.size(), ofPeer, journal);
        ends.add(end);
        if (ofPeer) {
            // The survivor judges whether its connections may fail.
            end.mayFail();
        }
        return end;
    }

    /** Makes all connections; false if the other process is gone. */
    boolean connect(final String address, final int port) {
        final RcConfig config = config();
        for (int i = 0; i < life.connections(); i++) {
            final End end = add();
            try (RcRequest request = peer.request(address, port, config)) {
                end.postReceives(request);
                end.connected(request.connect(hello(end)));
            }
            if (!isEstablished(end.connection())) {
                return false;
            }
            begin(end, end.connection().privateData());
        }
        return true;
    }

    /** Accepts all connections; false if the other process is gone. */
    boolean accept(final RcListener listener, final Predicate<Traffic> isGone) {
        final RcConfig config = config();
        for (int i = 0; i < life.connections(); i++) {
            final End end = add();
            Optional<RcRequest> next = Optional.empty();
            while (next.isEmpty()) {
                tick.run();
                if (isGone.test(this)) {
                    return false;
                }
                next = listener.nextRequest(config, LOOK_MS);
            }
            final byte[] hello;
            try (RcRequest request = next.get()) {
                hello = request.privateData();
                end.postReceives(request);
                end.connected(request.connect(hello(end)));
            }
            if (!isEstablished(end.connection())) {
                return false;
            }
            begin(end, hello);
        }
        return true;
    }

    private boolean isEstablished(final RcConnection connection) {
        Optional<RcEvent> event = Optional.empty();
        while (event.isEmpty()) {
            tick.run();
            event = connection.nextEvent(LOOK_MS);
        }
        return event.get() == RcEvent.ESTABLISHED;
    }

    private byte[] hello(final End end) {
        final byte[] descriptor = end.descriptor();
        return ByteBuffer.allocate(Long.BYTES + descriptor.length).putLong(life.key() + ends.size()).put(descriptor).array();
    }

    private void begin(final End end, final byte[] hello) {
        final ByteBuffer bytes = ByteBuffer.wrap(hello);
        final long key = bytes.getLong();
        registry.violations().expect(key == life.key() + ends.size(), end + ": the hello of another connection");
        final byte[] descriptor = new byte[bytes.remaining()];
        bytes.get(descriptor);
        end.other(descriptor);
        for (final CompletionQueue queue : end.queues()) {
            group.addQueue(queue);
            queues.add(queue);
        }
        established.add(end);
    }

    /** One round over all connections; false if there was nothing to do. */
    boolean step() {
        boolean worked = false;
        long count = 0;
        for (final End end : established) {
            worked |= end.step();
            count += end.progress();
        }
        progress = count;
        return worked;
    }

    /** The number of requests that have ended; any thread. */
    long progress() {
        return progress;
    }

    void quieten() {
        ends.forEach(End::quieten);
    }

    boolean isQuiet() {
        return ends.stream().allMatch(End::isQuiet);
    }

    /** From now on failures are expected; any thread. */
    void mayFail() {
        ends.forEach(End::mayFail);
    }

    void disconnect() {
        established.forEach(End::disconnect);
    }

    boolean isOver() {
        return established.stream().allMatch(End::isOver);
    }

    boolean hasFailed() {
        return ends.stream().anyMatch(end -> end.hasFailed() && !end.isOver());
    }

    boolean isSettled() {
        return established.stream().allMatch(End::isSettled);
    }

    /** Compares the counts with those of the peer, whose process has ended. */
    void compare(final Journal ofPeer, final boolean isInOrder) {
        established.forEach(end -> end.compare(ofPeer, isInOrder));
    }

    @Override
    public void close() {
        for (final CompletionQueue queue : queues) {
            try {
                group.removeQueue(queue);
            } catch (final TimeoutException stuck) {
                registry.violations().add(queue.name() + " was not removed: " + stuck.getMessage());
            }
        }
        ends.forEach(End::close);
    }

    @Override
    public String toString() {
        return ends.toString();
    }
}
