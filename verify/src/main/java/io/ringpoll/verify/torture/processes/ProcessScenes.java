package io.ringpoll.verify.torture.processes;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.supervised.SceneKind;
import io.ringpoll.verify.torture.supervised.SceneRunner;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import java.nio.file.Path;

/** The scenes of {@code ./ringpoll torture --processes}, and the main class of the process that survives them. */
public final class ProcessScenes implements SceneRunner.Scenes {
    /** For the supervising parent. */
    public static final SceneKind KIND = new SceneKind("--processes", ProcessScenes.class, "requests", "peers",
        "no hang, no leak, no file left, each work request completed once, each message once and in order, each end reported");

    private ProcessScenes() {
    }

    /**
     * Plays scenes.
     *
     * @param arguments as {@link SceneRunner#play}
     * @throws Exception if the scenes cannot be played at all
     */
    public static void main(final String[] arguments) throws Exception {
        SceneRunner.play(arguments, new ProcessScenes());
    }

    @Override
    public SupervisedScene scene(final long seed, final RdmaApi api, final String address, final Path countersFolder) {
        return new ProcessScene(seed, api, address);
    }
}
