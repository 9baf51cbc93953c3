package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.supervised.SceneKind;
import io.ringpoll.verify.torture.supervised.SceneRunner;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The scenes of {@code ./ringpoll torture --lifecycle}, and the main class of their child process. */
public final class LifecycleScenes implements SceneRunner.Scenes {
    /** For the supervising parent. */
    public static final SceneKind KIND = new SceneKind("--lifecycle", LifecycleScenes.class, "calls", "completions",
        "no crash, no hang, no leak, each completion once, each report as the model predicts");

    /** Of the handlers' exceptions; retained, because the JVM retains no level otherwise. */
    private static final Logger HANDLERS = Logger.getLogger("io.ringpoll.pipeline");

    private LifecycleScenes() {
    }

    /**
     * Plays scenes.
     *
     * @param arguments as {@link SceneRunner#play}
     * @throws Exception if the scenes cannot be played at all
     */
    public static void main(final String[] arguments) throws Exception {
        HANDLERS.setLevel(Level.OFF);
        SceneRunner.play(arguments, new LifecycleScenes());
    }

    @Override
    public SupervisedScene scene(final long seed, final RdmaApi api, final String address, final Path countersFolder) {
        return new LifecycleScene(seed, api, address, countersFolder);
    }

    @Override
    public boolean warmUp(final PrintStream out, final RdmaApi api, final String address, final Path countersFolder)
        throws InterruptedException {
        if (Device.current().kind() == DeviceKind.LOOPBACK) {
            WarmUp.play(out);
            return true;
        }
        return SceneRunner.Scenes.super.warmUp(out, api, address, countersFolder);
    }
}
