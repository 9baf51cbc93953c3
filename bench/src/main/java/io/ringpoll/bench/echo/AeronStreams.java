package io.ringpoll.bench.echo;

import io.aeron.Aeron;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.logbuffer.LogBufferDescriptor;
import io.ringpoll.bench.handoff.AeronContexts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import org.agrona.IoUtil;

/**
 * An embedded media driver of Aeron without threads, a client, and for each connection an exclusive publication in each
 * direction. The session id of a publication is the index of the connection.
 *
 * <p>The driver only moves the limits of the publications. A thread of its own would take a CPU from the two that are measured,
 * so the client's thread invokes it when a publication is at its limit.
 */
final class AeronStreams implements AutoCloseable {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final int REQUESTS = 1;
    private static final int ANSWERS = 2;
    private static final long START_LIMIT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Path folder;
    private final Thread atShutdown;
    private final ExclusivePublication[] requests;
    private final ExclusivePublication[] answers;
    private MediaDriver driver;
    private Aeron aeron;
    private Subscription server;
    private Subscription client;
    private volatile boolean serverRefused;

    AeronStreams(final int connections) {
        try {
            folder = Files.createTempDirectory(Files.isDirectory(MEMORY) ? MEMORY : Path.of("/tmp"), "ringpoll-aeron-");
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
        atShutdown = new Thread(() -> IoUtil.delete(folder.toFile(), true));
        Runtime.getRuntime().addShutdownHook(atShutdown);
        requests = new ExclusivePublication[connections];
        answers = new ExclusivePublication[connections];
        boolean connected = false;
        try {
            connect();
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    private void connect() {
        driver = MediaDriver.launchEmbedded(AeronContexts.driver(folder, LogBufferDescriptor.TERM_MIN_LENGTH));
        aeron = Aeron.connect(AeronContexts.client(folder).driverAgentInvoker(driver.sharedAgentInvoker()));
        server = aeron.addSubscription(CommonContext.IPC_CHANNEL, REQUESTS);
        client = aeron.addSubscription(CommonContext.IPC_CHANNEL, ANSWERS);
        for (int i = 0; i < requests.length; i++) {
            final String channel = CommonContext.IPC_CHANNEL + "?" + CommonContext.SESSION_ID_PARAM_NAME + "=" + i;
            requests[i] = aeron.addExclusivePublication(channel, REQUESTS);
            answers[i] = aeron.addExclusivePublication(channel, ANSWERS);
        }
        final long deadlineNs = System.nanoTime() + START_LIMIT_NS;
        while (server.imageCount() < requests.length || client.imageCount() < answers.length || !hasRoom()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException("the streams of Aeron are not connected in time");
            }
            driver.sharedAgentInvoker().invoke();
            aeron.conductorAgentInvoker().invoke();
        }
    }

    private boolean hasRoom() {
        for (int i = 0; i < requests.length; i++) {
            if (requests[i].availableWindow() <= 0 || answers[i].availableWindow() <= 0) {
                return false;
            }
        }
        return true;
    }

    ExclusivePublication requests(final int connection) {
        return requests[connection];
    }

    ExclusivePublication answers(final int connection) {
        return answers[connection];
    }

    /** The requests of all connections. */
    Subscription server() {
        return server;
    }

    /** The answers of all connections. */
    Subscription client() {
        return client;
    }

    /** A publication of the server has refused a claim; server's thread. */
    void onServerRefused(final long position) {
        require(position);
        serverRefused = true;
    }

    /** A publication of the client has refused a claim; client's thread. */
    void onClientRefused(final long position) {
        require(position);
        driver.sharedAgentInvoker().invoke();
    }

    /** Lets the driver move the limits of the server's publications, if one has refused a claim; client's thread. */
    void invokeForServer() {
        if (serverRefused) {
            serverRefused = false;
            driver.sharedAgentInvoker().invoke();
        }
    }

    private static void require(final long position) {
        if (position != Publication.BACK_PRESSURED && position != Publication.ADMIN_ACTION) {
            throw new IllegalStateException("a publication of Aeron refuses a claim: " + Publication.errorString(position));
        }
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(aeron, driver);
        IoUtil.delete(folder.toFile(), true);
        try {
            Runtime.getRuntime().removeShutdownHook(atShutdown);
        } catch (final IllegalStateException shuttingDown) {
            // Then the hook finds nothing to delete.
        }
    }
}
