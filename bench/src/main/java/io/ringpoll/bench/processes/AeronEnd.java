package io.ringpoll.bench.processes;

import io.aeron.Aeron;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.ringpoll.bench.baseline.CEnd;
import io.ringpoll.bench.handoff.AeronContexts;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.pipeline.WaitMode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.agrona.CloseHelper;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Aeron IPC: an exclusive publication in each direction, messages written in place with {@code tryClaim}, as in Aeron's sample of
 * a ping-pong.
 *
 * <p>The media driver is embedded in the server and has no thread, which would take a CPU from the measured threads: the server
 * invokes it after each {@value #ANSWERS_PER_INVOCATION} answers, long before a publication reaches its limit.
 */
final class AeronEnd implements End {
    private static final int REQUESTS = 1;
    private static final int ANSWERS = 2;
    /** Half a term is in flight at most: 5,461 messages. */
    private static final int TERM_BYTES = 1 << 20;
    private static final int ANSWERS_PER_INVOCATION = 1_024;
    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int LOOKS_PER_CLOCK = 1_024;

    private final boolean isServer;
    private final MediaDriver driver;
    private final Aeron aeron;
    private final Subscription incoming;
    private final ExclusivePublication outgoing;
    private final IdleStrategy idle;
    private final BufferClaim claim = new BufferClaim();
    /** The last message: each one is copied out of the log that has brought it, and into the one that takes it. */
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[CEnd.MESSAGE_BYTES]);
    private final FragmentHandler handler =
        (buffer, offset, length, header) -> message.putBytes(0, buffer, offset, CEnd.MESSAGE_BYTES);

    private AeronEnd(final EndSettings settings, final Path folder) {
        isServer = settings.isServer();
        idle = IdleStrategies.ofPoller(settings.yields() ? WaitMode.YIELD : WaitMode.BUSY_SPIN);
        driver = isServer ? MediaDriver.launchEmbedded(AeronContexts.driver(folder, TERM_BYTES)) : null;
        final Aeron.Context context = AeronContexts.client(folder);
        aeron = Aeron.connect(isServer ? context.driverAgentInvoker(driver.sharedAgentInvoker()) : context);
        incoming = aeron.addSubscription(CommonContext.IPC_CHANNEL, isServer ? REQUESTS : ANSWERS);
        outgoing = aeron.addExclusivePublication(CommonContext.IPC_CHANNEL, isServer ? ANSWERS : REQUESTS);
    }

    /** The server's end, with the driver. */
    static End listen(final EndSettings settings) {
        return new AeronEnd(settings, settings.folder().resolve("aeron"));
    }

    /** The client's end; returns after its first message has been answered. */
    static End connect(final EndSettings settings, final String place) throws TimeoutException {
        final AeronEnd end = new AeronEnd(settings, Path.of(place));
        final long deadlineNs = System.nanoTime() + CONNECT_NS;
        end.awaitConnection(deadlineNs);
        end.send(deadlineNs);
        end.receive(deadlineNs);
        return end;
    }

    @Override
    public void accept() throws TimeoutException {
        final long deadlineNs = System.nanoTime() + CONNECT_NS;
        awaitConnection(deadlineNs);
        while (incoming.poll(handler, 1) == 0) {
            invoke();
            check(deadlineNs);
        }
        send(deadlineNs);
    }

    private void awaitConnection(final long deadlineNs) throws TimeoutException {
        while (!incoming.isConnected() || !outgoing.isConnected() || outgoing.availableWindow() <= 0) {
            invoke();
            check(deadlineNs);
            Thread.yield();
        }
    }

    private void invoke() {
        if (driver != null) {
            driver.sharedAgentInvoker().invoke();
        }
        aeron.conductorAgentInvoker().invoke();
    }

    @Override
    public EndFigures run(final long fromNs, final long untilNs) throws TimeoutException {
        if (isServer) {
            answer(untilNs + GRACE_NS);
            return EndFigures.NONE;
        }
        return EndFigures.of(ping(fromNs, untilNs));
    }

    private void answer(final long deadlineNs) throws TimeoutException {
        int answers = 0;
        do {
            receive(deadlineNs);
            send(deadlineNs);
            if (++answers == ANSWERS_PER_INVOCATION) {
                answers = 0;
                driver.sharedAgentInvoker().invoke();
            }
        } while (!isLast());
        // Room for the next turn.
        driver.sharedAgentInvoker().invoke();
    }

    private Histogram ping(final long fromNs, final long untilNs) throws TimeoutException {
        final Histogram halfNs = new Histogram(3);
        boolean last;
        do {
            final long sentNs = System.nanoTime();
            last = sentNs - untilNs >= 0;
            message.putLong(0, last ? 1 : 0);
            send(untilNs + GRACE_NS);
            receive(untilNs + GRACE_NS);
            if (!last && sentNs - fromNs >= 0) {
                halfNs.recordValue((System.nanoTime() - sentNs) / 2);
            }
        } while (!last);
        return halfNs;
    }

    /** Whether the message is the last one of a turn. */
    private boolean isLast() {
        return message.getLong(0) != 0;
    }

    private void send(final long deadlineNs) throws TimeoutException {
        long position = outgoing.tryClaim(CEnd.MESSAGE_BYTES, claim);
        while (position < 0) {
            if (position != Publication.BACK_PRESSURED && position != Publication.ADMIN_ACTION) {
                throw new IllegalStateException("a publication of Aeron refuses a claim: " + Publication.errorString(position));
            }
            check(deadlineNs);
            if (isServer) {
                driver.sharedAgentInvoker().invoke();
            }
            position = outgoing.tryClaim(CEnd.MESSAGE_BYTES, claim);
        }
        claim.buffer().putBytes(claim.offset(), message, 0, CEnd.MESSAGE_BYTES);
        claim.commit();
    }

    private void receive(final long deadlineNs) throws TimeoutException {
        for (int looks = 1; incoming.poll(handler, 1) == 0; looks++) {
            if (looks % LOOKS_PER_CLOCK == 0) {
                check(deadlineNs);
            }
            idle.idle();
        }
    }

    private static void check(final long deadlineNs) throws TimeoutException {
        if (System.nanoTime() - deadlineNs > 0) {
            throw new TimeoutException("the other end of Aeron IPC does not answer");
        }
    }

    @Override
    public String place() {
        return aeron.context().aeronDirectoryName();
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(aeron, driver);
    }
}
