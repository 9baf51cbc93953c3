package io.ringpoll.cli.options;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import picocli.CommandLine.Option;

/** The option of a command that makes connections over librpma or over verbs. */
public final class ApiOption {
    @Option(
        names = "--api", paramLabel = "API", defaultValue = "rpma",
        description = "What makes the connections: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}). rpma is librpma, verbs is "
            + "librdmacm with libibverbs.")
    private RdmaApi api;

    /** Created by picocli. */
    ApiOption() {
    }

    /**
     * The chosen binding.
     *
     * @return librpma by default
     */
    public RdmaApi api() {
        return api;
    }

    /** Disables the log of librpma if it makes the connections: each error is in one exception, with the message of librpma. */
    public void disableLog() {
        if (api == RdmaApi.RPMA) {
            RpmaLog.threshold(LogLevel.DISABLED);
        }
    }
}
