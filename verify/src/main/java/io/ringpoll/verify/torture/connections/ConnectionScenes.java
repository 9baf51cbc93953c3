package io.ringpoll.verify.torture.connections;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.supervised.SceneKind;
import io.ringpoll.verify.torture.supervised.SceneRunner;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import java.nio.file.Path;

/** The scenes of {@code ./ringpoll torture --connections}, and the main class of their child process. */
public final class ConnectionScenes implements SceneRunner.Scenes {
    /** For the supervising parent. */
    public static final SceneKind KIND = new SceneKind("--connections", ConnectionScenes.class, "connections", "messages",
        "no hang, no leak, each message and operation once and in order, no credit lost, each end as the model predicts");

    private ConnectionScenes() {
    }

    /**
     * Plays scenes.
     *
     * @param arguments as {@link SceneRunner#play}
     * @throws Exception if the scenes cannot be played at all
     */
    public static void main(final String[] arguments) throws Exception {
        SceneRunner.play(arguments, new ConnectionScenes());
    }

    @Override
    public SupervisedScene scene(final long seed, final RdmaApi api, final String address, final Path countersFolder) {
        return new ConnectionScene(seed, api, address, countersFolder);
    }
}
