package io.ringpoll.bench.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the memory of this process lies that was to come from one NUMA node. It looks while something runs, every few
 * milliseconds, and keeps the look at which there was most. That disturbs what runs, so it is to be a turn that does not count.
 *
 * <p>Used by one thread.
 */
public final class NodeCensus {
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final double MEGABYTE = 1 << 20;
    private static final double PERCENT = 100;

    private final int node;
    private NodeMemory most = new NodeMemory(new TreeMap<>());

    /**
     * Something that runs.
     *
     * @param <E> what it throws
     */
    @FunctionalInterface
    public interface Turn<E extends Exception> {
        /**
         * Runs.
         *
         * @throws E if it fails
         */
        void run() throws E;
    }

    /**
     * Has not looked yet.
     *
     * @param node to which memory is bound
     */
    public NodeCensus(final int node) {
        this.node = node;
    }

    /**
     * Looks from a thread of its own while something runs.
     *
     * @param turn what runs
     * @param <E>  what it throws
     * @throws E if it fails
     */
    public <E extends Exception> void during(final Turn<E> turn) throws E {
        final Looking looking = new Looking();
        looking.start();
        try {
            turn.run();
        } finally {
            looking.end();
        }
        if (looking.most.totalBytes() >= most.totalBytes()) {
            most = looking.most;
        }
    }

    /**
     * Where memory was.
     *
     * @return at the look at which there was most
     */
    public NodeMemory memory() {
        return most;
    }

    /**
     * The same as JSON.
     *
     * @param root gets {@code "numa": {"node": 0, "bytes": {"0": n, ...}}}
     */
    public void addTo(final ObjectNode root) {
        final ObjectNode bytes = root.putObject("numa").put("node", node).putObject("bytes");
        most.bytesByNode().forEach((each, length) -> bytes.put(Integer.toString(each), length));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "memory is bound to NUMA node %d: of %.0f MB in use %.1f %% lay there", node,
            most.totalBytes() / MEGABYTE, PERCENT * most.shareOn(node));
    }

    /** The thread that looks. */
    private static final class Looking extends Thread {
        private NodeMemory most = NodeMemory.ofThisProcess();
        private volatile boolean stopped;

        Looking() {
            super("bench-census");
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!stopped) {
                final NodeMemory now = NodeMemory.ofThisProcess();
                if (now.totalBytes() >= most.totalBytes()) {
                    most = now;
                }
                LockSupport.parkNanos(INTERVAL_NS);
            }
        }

        void end() {
            stopped = true;
            try {
                join();
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
