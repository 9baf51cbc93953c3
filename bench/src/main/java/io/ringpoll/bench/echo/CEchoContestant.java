package io.ringpoll.bench.echo;

import io.ringpoll.bench.baseline.CEcho;
import io.ringpoll.device.Device;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/** Plain C on librpma: one thread at each end polls and answers. */
final class CEchoContestant implements EchoContestant {
    private final CEcho echo;

    CEchoContestant(final EchoScale scale, final EchoThreads threads) {
        final String host = Device.current().address().host();
        echo = CEcho.open(host, freePort(host), new CEcho.Options(scale.connections(), scale.window(), scale.inFlight(),
            EchoScale.MESSAGE_BYTES, threads.yields(), threads.clientCpu(), threads.serverCpu()));
    }

    private static String freePort(final String host) {
        try (Peer peer = Peer.ofLocal(host); Endpoint endpoint = peer.listen(host, "0")) {
            return Integer.toString(endpoint.port());
        }
    }

    @Override
    public void start(final EchoMode mode, final long fromNs, final long untilNs) {
        echo.start(mode == EchoMode.PING_PONG, fromNs, untilNs);
    }

    @Override
    public long answers() {
        return echo.answers();
    }

    @Override
    public void stop() throws TimeoutException {
        echo.stop();
    }

    @Override
    public Histogram roundTripNs() {
        return echo.roundTripNs();
    }

    @Override
    public boolean isJava() {
        return false;
    }

    @Override
    public void close() {
        echo.close();
    }
}
