package io.ringpoll.bench.processes;

import java.nio.file.Path;

/**
 * The settings of one of the two processes.
 *
 * @param isServer whether it is the answering end
 * @param cpu      CPU of its hot thread, or {@link io.ringpoll.bench.handoff.HotCpus#ANY}
 * @param yields   whether the hot thread yields its CPU while it waits
 * @param folder   folder of the run: ports, shared memory
 */
record EndSettings(boolean isServer, int cpu, boolean yields, Path folder) {
    /** The variable of the folder in which the loopback device has its ports. */
    static final String FOLDER_VARIABLE = "RINGPOLL_LOOPBACK_FOLDER";

    private static final String SERVER = "server";
    private static final String CLIENT = "client";

    /** Reads the settings of this process: {@link #arguments()}, and the folder from the environment. */
    static EndSettings of(final String... arguments) {
        return new EndSettings(arguments[0].equals(SERVER), Integer.parseInt(arguments[1]), Boolean.parseBoolean(arguments[2]),
            Path.of(System.getenv(FOLDER_VARIABLE)));
    }

    /** The arguments of its process. */
    String[] arguments() {
        return new String[] {name(), Integer.toString(cpu), Boolean.toString(yields)};
    }

    /** {@code server} or {@code client}. */
    String name() {
        return isServer ? SERVER : CLIENT;
    }
}
