package io.ringpoll.bench.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Samples the placement of the memory of this process that is bound to one NUMA node, every few milliseconds during a run, and
 * keeps the sample with the most memory. Sampling disturbs the run, so the turn must not be a measured one.
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
     * The code that runs during sampling.
     *
     * @param <E> its exception
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
     * Creates a census without samples.
     *
     * @param node the node that memory is bound to
     */
    public NodeCensus(final int node) {
        this.node = node;
    }

    /**
     * Samples from its own thread during a run.
     *
     * @param turn the code to run
     * @param <E>  its exception
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
     * The placement of memory.
     *
     * @return the sample with the most memory
     */
    public NodeMemory memory() {
        return most;
    }

    /**
     * The placement as JSON.
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

    /** The sampling thread. */
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
