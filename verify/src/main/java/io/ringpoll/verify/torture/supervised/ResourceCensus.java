package io.ringpoll.verify.torture.supervised;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.os.OwnedMemory;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.LiveObjects;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The resources of the process that a scene must release: threads, counters files, descriptors, objects of the device, marks.
 *
 * <p>Event descriptors are counted separately: the binding keeps wake-up descriptors in a pool.
 */
public final class ResourceCensus {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long LOOK_MS = 5;
    private static final int COLLECTIONS = 20;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final String BYTES = "bytes of slabs and regions";
    private static final String EVENT_DESCRIPTOR = "anon_inode:[eventfd]";

    private final Path countersFolder;

    /**
     * Prepares a census.
     *
     * @param api            the binding of the scenes
     * @param countersFolder folder of the counters files of the scenes
     */
    public ResourceCensus(final RdmaApi api, final Path countersFolder) {
        this.countersFolder = countersFolder;
        if (Device.current().kind() == DeviceKind.LOOPBACK) {
            // Its connection manager opens the descriptors that the process keeps when it is first used.
            api.ofLocal(Device.current().address().host()).close();
        }
    }

    /** Collects garbage of before, so that its memory is not counted: the garbage collector frees that of connections. */
    void settle() throws InterruptedException {
        for (int i = 0; i < COLLECTIONS && OwnedMemory.guardedBytes() > 0; i++) {
            System.gc();
            Thread.sleep(LOOK_MS);
        }
    }

    /**
     * The counts that must be the same before and after a scene.
     *
     * @return by name
     */
    public Map<String, Long> count() {
        final Map<String, Long> counts = new TreeMap<>();
        if (Device.current().kind() == DeviceKind.LOOPBACK) {
            LiveObjects.count().forEach((kind, live) -> counts.put("device " + kind, live));
        }
        counts.put("hot call marks", (long) HotCalls.registered());
        counts.put(BYTES, OwnedMemory.guardedBytes());
        counts.put("counters files", countersFiles());
        counts.put("descriptors", descriptors(false));
        return counts;
    }

    /**
     * Waits until the counts are equal to the first ones, and adds a violation if they stay different.
     *
     * @param before       the counts before the scene
     * @param threadPrefix of the names of the threads of the scene
     * @param violations   of the scene
     * @throws InterruptedException if the calling thread is interrupted
     */
    public void compare(final Map<String, Long> before, final String threadPrefix, final Violations violations)
        throws InterruptedException {
        final long startNs = System.nanoTime();
        Map<String, Long> after = count();
        String thread = liveThread(threadPrefix);
        while ((!before.equals(after) || thread != null) && System.nanoTime() - startNs < PATIENCE_NS) {
            if (!before.get(BYTES).equals(after.get(BYTES))) {
                System.gc();
            }
            Thread.sleep(LOOK_MS);
            after = count();
            thread = liveThread(threadPrefix);
        }
        violations.expect(thread == null, "a thread is left running: " + thread);
        for (final Map.Entry<String, Long> entry : before.entrySet()) {
            final long now = after.get(entry.getKey());
            violations.expect(now == entry.getValue(),
                entry.getKey() + " left behind: " + entry.getValue() + " before the scene, " + now + " after it");
        }
    }

    long eventDescriptors() {
        return descriptors(true);
    }

    private static String liveThread(final String prefix) {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).filter(name -> name.startsWith(prefix))
            .findFirst().orElse(null);
    }

    private long countersFiles() {
        try (Stream<Path> files = Files.list(countersFolder)) {
            return files.count();
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static long descriptors(final boolean events) {
        long count = 0;
        for (final String name : new File(DESCRIPTORS.toString()).list()) {
            try {
                count += events == Files.readSymbolicLink(DESCRIPTORS.resolve(name)).toString().equals(EVENT_DESCRIPTOR) ? 1 : 0;
            } catch (final IOException closedMeanwhile) {
                // The descriptor of the folder itself.
            }
        }
        return count;
    }
}
