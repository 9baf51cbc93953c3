package io.ringpoll.verify.torture;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.verify.seeds.SeededRun;
import java.io.PrintWriter;
import java.util.List;
import java.util.logging.Filter;
import java.util.logging.Logger;

/**
 * Plays random scenes on the device of this process, one after the other, until one fails or the time is over; without faults
 * unless it is the loopback device, which injects them. Used by one thread.
 *
 * @param api    the binding that makes the connections
 * @param run    seed and time
 * @param scenes number of scenes instead of a time; 0 for the time
 */
public record Torture(RdmaApi api, SeededRun run, long scenes) {
    private static final double LINE_SECONDS = 30;

    /**
     * Plays.
     *
     * @param progress receives progress lines
     * @return the result
     */
    public TortureReport play(final PrintWriter progress) {
        // The pipeline logs the first exception of each kind with its stack.
        final Logger pipelines = Logger.getLogger(Pipeline.class.getPackageName());
        final Filter before = pipelines.getFilter();
        pipelines.setFilter(entry -> !PathRecorder.isPlanned(entry.getThrown()));
        try {
            return api == RdmaApi.RPMA ? playOverLibrpma(progress) : playScenes(progress);
        } finally {
            pipelines.setFilter(before);
        }
    }

    private TortureReport playOverLibrpma(final PrintWriter progress) {
        // Planned failures would fill the log; errors are reported by exceptions.
        final LogLevel before = RpmaLog.threshold();
        RpmaLog.threshold(LogLevel.DISABLED);
        try {
            return playScenes(progress);
        } finally {
            RpmaLog.threshold(before);
        }
    }

    private TortureReport playScenes(final PrintWriter progress) {
        progress.println(api.deviceLine());
        // Printed first: the process may crash.
        progress.printf("scenes over %s from seed %d%n", api, run.firstSeed());
        progress.flush();
        final String address = Device.current().address().host();
        final boolean isLoopback = Device.current().kind() == DeviceKind.LOOPBACK;
        long lines = 0;
        long played = 0;
        long workRequests = 0;
        long faults = 0;
        Scene failed = null;
        List<String> violations = List.of();
        while (failed == null && (scenes > 0 ? played < scenes : !run.isOver())) {
            final Scene drawn = Scene.of(run.firstSeed() + played);
            final Scene scene = isLoopback ? drawn : drawn.withoutFaults();
            final Trial trial = new Trial(api, scene, address, isLoopback);
            violations = trial.play();
            failed = violations.isEmpty() ? null : scene;
            played++;
            workRequests += trial.ended();
            faults += trial.injected();
            if (run.elapsedSeconds() >= (lines + 1) * LINE_SECONDS) {
                lines++;
                progress.printf("%,d scenes, %,d work requests, %,d faults%n", played, workRequests, faults);
                progress.flush();
            }
        }
        return new TortureReport(api, Device.current().kind(), run.firstSeed(), played, workRequests, faults,
            run.elapsedSeconds(), failed, violations);
    }
}
