package io.ringpoll.bench.instructions;

import io.ringpoll.bench.echo.SaturatedEcho;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The server's or the client's thread of a saturated echo. Its unit is a message: both ends post a receive after each. */
final class EchoThread implements Subject {
    private static final long FEWEST_MESSAGES = 500_000;
    /** Times the usual number of instructions, for about 200 messages. */
    private static final int FACTOR = 6;

    private final SaturatedEcho echo;
    private final String thread;
    private final long receive;

    /**
     * Starts an echo.
     *
     * @param layered     whether with module {@code connections}, or by hand
     * @param connections their number
     * @param isServer    whether the server's thread is traced
     * @param receive     address of the function that posts a receive
     */
    EchoThread(final boolean layered, final int connections, final boolean isServer, final long receive) {
        this.receive = receive;
        thread = SaturatedEcho.thread(layered, isServer);
        try {
            echo = SaturatedEcho.start(layered, connections);
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public boolean hasRepeated() {
        return echo.answers() >= FEWEST_MESSAGES;
    }

    @Override
    public Steps trace(final Stepper stepper, final int count) throws IOException, InterruptedException {
        final Steps steps = stepper.trace(thread, FACTOR * count, receive);
        return steps.withUnits(steps.at(receive));
    }

    @Override
    public void close() {
        echo.close();
    }
}
