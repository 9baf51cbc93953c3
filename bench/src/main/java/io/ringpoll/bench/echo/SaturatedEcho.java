package io.ringpoll.bench.echo;

import io.ringpoll.bench.handoff.HotCpus;
import java.io.IOException;
import java.util.concurrent.TimeoutException;

/** An echo that runs at full speed, with its threads on any CPUs. Used by one thread. */
public final class SaturatedEcho implements AutoCloseable {
    private static final long NEVER = 0;

    private final EchoContestant contestant;

    private SaturatedEcho(final EchoContestant contestant) {
        this.contestant = contestant;
    }

    /**
     * Connects and starts the messages.
     *
     * @param layered     whether with module {@code connections}, or by hand
     * @param connections one of the numbers of connections that are measured
     * @return the running echo
     * @throws IOException if it cannot be connected
     */
    public static SaturatedEcho start(final boolean layered, final int connections) throws IOException {
        final EchoScale scale = EchoConfig.SCALES.stream().filter(each -> each.connections() == connections).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no echo with " + connections + " connections is measured"));
        final EchoContestant contestant =
            subject(layered).open(scale, new EchoThreads(HotCpus.unpinned(), new Gate()));
        contestant.start(EchoMode.THROUGHPUT, NEVER, NEVER);
        return new SaturatedEcho(contestant);
    }

    /**
     * The name of a contestant in results.
     *
     * @param layered as for {@link #start}
     * @return its label
     */
    public static String label(final boolean layered) {
        return subject(layered).label();
    }

    /**
     * The name of a polling thread.
     *
     * @param layered  as for {@link #start}
     * @param isServer of the server, or of the client
     * @return the name of the Java thread
     */
    public static String thread(final boolean layered, final boolean isServer) {
        return EchoThreads.name(layered ? LayerEcho.NAME : HandEcho.NAME, isServer) + "-poller";
    }

    private static EchoSubject subject(final boolean layered) {
        return layered ? EchoSubject.LAYER : EchoSubject.BY_HAND;
    }

    /**
     * Number of answers so far.
     *
     * @return messages that the client has received
     */
    public long answers() {
        return contestant.answers();
    }

    /** Stops the messages and closes the connections. */
    @Override
    public void close() {
        try {
            contestant.stop();
        } catch (final TimeoutException late) {
            throw new IllegalStateException(late);
        } finally {
            contestant.close();
        }
    }
}
