package io.ringpoll.bench.processes;

import io.ringpoll.bench.baseline.CEnd;

/** Copies of the client alone, as many bytes and slots as of {@link CBaselineEnd writes}; the server has nothing to do. */
final class CopyEnd implements End {
    private final boolean isServer;

    CopyEnd(final boolean isServer) {
        this.isServer = isServer;
    }

    @Override
    public void accept() {
        // There is no connection.
    }

    @Override
    public EndFigures run(final long fromNs, final long untilNs) {
        return isServer ? EndFigures.NONE : EndFigures.ofTransfers(
            CEnd.copies(CBaselineEnd.WRITE_BYTES, CBaselineEnd.WRITES_IN_FLIGHT, fromNs, untilNs));
    }

    @Override
    public String place() {
        return "-";
    }

    @Override
    public void close() {
        // Each turn has memory of its own.
    }
}
