package io.ringpoll.bench.handoff;

import io.aeron.Aeron;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.LogBufferDescriptor;
import io.aeron.protocol.DataHeaderFlyweight;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.BitUtil;
import org.agrona.CloseHelper;
import org.agrona.IoUtil;

/**
 * A stream of Aeron from one thread to another one of this process: an embedded media driver without threads, a client, an
 * exclusive publication and the image of its only subscriber, over files in a folder of their own in memory.
 *
 * <p>The driver only moves the limit of the publication. A thread of its own would take a CPU from the two that are measured, so
 * the publishing thread invokes it when the publication is at its limit ({@link #onRefused}); Aeron's guide recommends this mode
 * where CPUs are few. In flight are at least as many completions as ringpoll's ring has slots: the limit is half a term ahead.
 *
 * <p>Used by one thread until it is handed to the hand-off, then {@link #onRefused} by the publishing one.
 *
 * @see <a href="https://github.com/aeron-io/aeron/wiki/Thread-Utilisation">Aeron: thread utilisation, INVOKER</a>
 * @see <a href="https://github.com/aeron-io/aeron/wiki/Best-Practices-Guide">Aeron: best practices guide</a>
 */
final class AeronIpc implements AutoCloseable {
    /** The time that a start needs, with a margin. */
    static final long START_TIME_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final long START_LIMIT_S = 10;
    private static final int STREAM = 1;
    private static final int FEW_SLOTS = 64;
    private static final int WINDOWS_OF_A_TERM = 2;

    private final Path folder;
    private final Thread atShutdown;
    private MediaDriver driver;
    private Aeron aeron;
    private ExclusivePublication publication;
    private Image image;

    /** Whether Aeron starts here, asked once. */
    private static final class Trial {
        static final Optional<String> FAILURE = failure();

        private Trial() {
        }

        private static Optional<String> failure() {
            try (AeronIpc ipc = open(MEMORY, FEW_SLOTS)) {
                return ipc.publication.isConnected() ? Optional.empty() : Optional.of("its publication is not connected");
            } catch (final IllegalStateException failed) {
                return Optional.of(failed.getMessage());
            }
        }
    }

    private AeronIpc(final Path folder) {
        this.folder = folder;
        atShutdown = new Thread(() -> IoUtil.delete(folder.toFile(), true));
    }

    /** The reason why Aeron cannot be started here; empty if it can. */
    static Optional<String> unavailable() {
        return Trial.FAILURE;
    }

    /** Starts Aeron for a queue of a number of completions. */
    static AeronIpc open(final int slots) {
        return open(MEMORY, slots);
    }

    /** Starts Aeron with a folder in another one; ends in ten seconds. */
    static AeronIpc open(final Path parent, final int slots) {
        final FutureTask<AeronIpc> start = new FutureTask<>(() -> start(parent, slots));
        final Thread starter = new Thread(start, "aeron-start");
        starter.setDaemon(true);
        starter.start();
        try {
            return start.get(START_LIMIT_S, TimeUnit.SECONDS);
        } catch (final TimeoutException late) {
            start.cancel(true);
            throw new IllegalStateException("Aeron did not start within " + START_LIMIT_S + " s", late);
        } catch (final ExecutionException failed) {
            throw new IllegalStateException("Aeron did not start: " + failed.getCause(), failed.getCause());
        } catch (final InterruptedException interrupted) {
            start.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while Aeron started", interrupted);
        }
    }

    private static AeronIpc start(final Path parent, final int slots) throws IOException, InterruptedException {
        final AeronIpc ipc = new AeronIpc(Files.createTempDirectory(parent, "ringpoll-aeron-"));
        Runtime.getRuntime().addShutdownHook(ipc.atShutdown);
        boolean started = false;
        try {
            ipc.connect(termLength(slots));
            started = !Thread.currentThread().isInterrupted();
        } finally {
            if (!started) {
                ipc.close();
            }
        }
        return ipc;
    }

    /** The window of a publication is half a term. */
    static int termLength(final int slots) {
        final int frame = BitUtil.align(
            DataHeaderFlyweight.HEADER_LENGTH + NeededFields.SIZE_BYTES, FrameDescriptor.FRAME_ALIGNMENT);
        final long needed = Math.clamp((long) slots * frame * WINDOWS_OF_A_TERM, LogBufferDescriptor.TERM_MIN_LENGTH,
            LogBufferDescriptor.TERM_MAX_LENGTH);
        return (int) BitUtil.findNextPositivePowerOfTwo(needed);
    }

    private void connect(final int termLength) throws InterruptedException {
        driver = MediaDriver.launchEmbedded(AeronContexts.driver(folder, termLength).termBufferSparseFile(false));
        aeron = Aeron.connect(AeronContexts.client(folder).driverAgentInvoker(driver.sharedAgentInvoker()));
        final Subscription subscription = aeron.addSubscription(CommonContext.IPC_CHANNEL, STREAM);
        publication = aeron.addExclusivePublication(CommonContext.IPC_CHANNEL, STREAM);
        while (!subscription.isConnected() || !publication.isConnected() || publication.availableWindow() <= 0) {
            if (Thread.interrupted()) {
                throw new InterruptedException("while the publication was not connected");
            }
            driver.sharedAgentInvoker().invoke();
            aeron.conductorAgentInvoker().invoke();
            Thread.yield();
        }
        image = subscription.imageAtIndex(0);
    }

    /** The publication, for the publishing thread. */
    ExclusivePublication publication() {
        return publication;
    }

    /** The image, for the subscribing thread. */
    Image image() {
        return image;
    }

    /** The folder of its files. */
    Path folder() {
        return folder;
    }

    /** Lets the driver move the limit of the publication, which has refused a claim; publishing thread. */
    void onRefused(final long position) {
        if (position != Publication.BACK_PRESSURED && position != Publication.ADMIN_ACTION) {
            throw new IllegalStateException("the publication of Aeron refuses a claim: " + Publication.errorString(position));
        }
        driver.sharedAgentInvoker().invoke();
    }

    /** Ends the client and the driver, and removes the folder. No thread may use the publication or the image any more. */
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
