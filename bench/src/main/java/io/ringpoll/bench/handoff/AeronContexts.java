package io.ringpoll.bench.handoff;

import io.aeron.Aeron;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The settings of Aeron in all measurements: a media driver without threads, which a measured thread invokes, and clients without
 * a thread of their own. Neither takes a silent participant for dead: it may sleep between its turns.
 */
public final class AeronContexts {
    private static final long LIVENESS_S = TimeUnit.DAYS.toSeconds(1);

    private AeronContexts() {
    }

    /**
     * The settings of an embedded driver.
     *
     * @param folder     folder of its files
     * @param termLength length of the terms of IPC publications
     * @return for {@link MediaDriver#launchEmbedded(MediaDriver.Context)}
     */
    public static MediaDriver.Context driver(final Path folder, final int termLength) {
        return new MediaDriver.Context().aeronDirectoryName(folder.toString())
            .threadingMode(ThreadingMode.INVOKER).ipcTermBufferLength(termLength)
            .clientLivenessTimeoutNs(TimeUnit.SECONDS.toNanos(LIVENESS_S))
            .publicationUnblockTimeoutNs(TimeUnit.SECONDS.toNanos(2 * LIVENESS_S))
            .dirDeleteOnStart(true).dirDeleteOnShutdown(true).warnIfDirectoryExists(false);
    }

    /**
     * The settings of a client, also with an invoked conductor.
     *
     * @param folder folder of the driver's files
     * @return without the invoker of a driver in the same process
     */
    public static Aeron.Context client(final Path folder) {
        return new Aeron.Context().aeronDirectoryName(folder.toString()).useConductorAgentInvoker(true)
            .driverTimeoutMs(TimeUnit.SECONDS.toMillis(LIVENESS_S));
    }
}
