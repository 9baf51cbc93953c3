package io.ringpoll.verify.run;

import static io.ringpoll.completion.CompletionPath.ERROR;
import static io.ringpoll.completion.CompletionPath.RECEIVE;
import static io.ringpoll.completion.CompletionPath.SEND_WRITE;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.device.Device;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineReport;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The main job from start to end: a server, a client, or both in one process, and the account of all posted work requests.
 *
 * <p>{@link #run} is called by the main thread; {@link #interrupt()} may be called from a signal handler.
 */
public final class MainJob {
    /** The minimum duration of the warm-up, which lasts until the hot threads have settled or its time is over. */
    private static final double MIN_WARM_UP_SECONDS = 1;
    private static final long STOP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    /** The interval of the checks of the main thread, in milliseconds. */
    static final long TICK_MS = 20;
    /** The assumed duration of a soak with a fixed number of operations, which sets its sampling interval. */
    private static final double UNKNOWN_SECONDS = 400;

    private RunConfig config;
    private final PrintWriter progress;
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final Ledger ledger;
    private final Accounts accounts;

    /**
     * Prepares a run.
     *
     * @param config   the settings
     * @param progress receives the settings, and a line each second
     */
    public MainJob(final RunConfig config, final PrintWriter progress) {
        this.config = config;
        this.progress = progress;
        // Both ends of each connection, the fault lane, and the server ends of its connections, which overlap while one closes.
        final int sides = config.faults() == null ? 2 * config.connections() + 8 : 4 * config.connections() + 16;
        this.ledger = new Ledger(config.depth() * sides);
        this.accounts = new Accounts(ledger, config.faults() != null);
    }

    /** Ends the run in order; any thread. */
    public void interrupt() {
        interrupted.countDown();
    }

    /**
     * Runs; the main thread.
     *
     * @return the account of the run
     * @throws InterruptedException if the calling thread is interrupted
     */
    public RunReport run() throws InterruptedException {
        final PipelineBuilder builder = describe();
        progress.printf("%s; %s; %s%s%n", config.mix(), waits(), config.pinning(),
            config.api() == RdmaApi.RPMA ? "" : "; over " + config.api());
        if (config.faults() == null) {
            return run(builder, null);
        }
        progress.println("faults: " + config.faults());
        try (FaultInjection injection = FaultInjection.apply(config.faults())) {
            return run(builder, injection);
        }
    }

    @SuppressWarnings("try") // closes the subscription
    private RunReport run(final PipelineBuilder builder, final FaultInjection injection) throws InterruptedException {
        try (RcPeer peer = config.role().isServer() ? config.api().ofLocal(config.address()) :
            config.api().ofRemote(config.address());
            Pipeline pipeline = builder.start()) {
            final PolledQueues queues = new PolledQueues(pipeline, accounts);
            try (AsyncEvents.Subscription deaths =
                injection == null ? null : AsyncEvents.listen(peer.context(), queues::onEvent)) {
                return run(peer, pipeline, queues, injection);
            }
        }
    }

    private RunReport run(
        final RcPeer peer, final Pipeline pipeline, final PolledQueues queues, final FaultInjection injection)
        throws InterruptedException {
        final Deque<Side> sides = new ArrayDeque<>();
        if (config.role().isServer()) {
            final ServerSide server = new ServerSide(peer, queues, ledger, accounts, config);
            progress.printf("the server listens on %s, port %d%n", config.address(), server.port());
            config = config.withPort(server.port());
            sides.push(server);
        }
        progress.flush();
        try {
            if (config.role().isClient()) {
                sides.push(new ClientSide(peer, queues, ledger, accounts, config));
            }
            return run(pipeline, queues, sides, injection);
        } finally {
            // Empty unless an exception was thrown.
            for (final Side side : sides) {
                side.finish();
                side.close();
            }
        }
    }

    /** The last side to start leads: the run is over when that side is done. */
    private RunReport run(
        final Pipeline pipeline, final PolledQueues queues, final Deque<Side> sides, final FaultInjection injection)
        throws InterruptedException {
        final QueueWatch queueWatch = injection == null ? null : new QueueWatch(queues, accounts);
        final double expectedSeconds = config.operations() > 0 ? UNKNOWN_SECONDS : config.seconds();
        final Soak soak = config.soak() ? new Soak(pipeline, accounts, expectedSeconds) : null;
        final Stopwatch stopwatch = watch(pipeline, sides.peek(), soak);
        for (final Side side : sides) {
            side.finish();
        }
        stopwatch.stop();
        while (!sides.isEmpty()) {
            sides.pop().close();
        }
        if (queueWatch != null) {
            queueWatch.close();
        }
        final PipelineReport rest = pipeline.close(STOP_TIMEOUT_NS);
        if (!rest.inTime() || rest.unhandled() > 0) {
            accounts.complain("the pipeline left " + rest.unhandled() + " completions unhandled");
        }
        if (pipeline.failure() != null) {
            accounts.complain("the pipeline stopped: " + pipeline.failure());
        }
        pipeline.readErrors(accounts::complain);
        return new RunReport(
            Device.current().kind().name().toLowerCase(Locale.ROOT), stopwatch.seconds(), accounts.paths(),
            accounts.corrupted(), stopwatch.completionsPerSecond(), latencies(soak),
            stopwatch.allocation(), accounts.complaints(), accounts.notes(),
            soak == null ? null : soak.report(),
            injection == null ? null : FaultAccount.of(injection, accounts.replaced(), queueWatch.putBack()));
    }

    private Histogram latencies(final Soak soak) {
        final Histogram latencyNs = accounts.latencyNs();
        if (soak != null) {
            latencyNs.add(soak.latencyNs());
        }
        return latencyNs;
    }

    /** Waits for the end of the run, starts the measurement after the warm-up, and prints a line each second. */
    private Stopwatch watch(final Pipeline pipeline, final Side leading, final Soak soak) throws InterruptedException {
        final Stopwatch stopwatch = new Stopwatch(pipeline, accounts);
        boolean begun = false;
        boolean warm = false;
        int lines = 0;
        while (!leading.isOver() && pipeline.failure() == null) {
            if (!begun && leading.hasBegun()) {
                begun = true;
                stopwatch.startWarmUp();
            }
            final boolean settled = begun && stopwatch.check();
            final double warming = stopwatch.warmUpSeconds();
            if (begun && !warm && (warming >= config.warmUpSeconds() || settled && warming >= MIN_WARM_UP_SECONDS)) {
                warm = true;
                accounts.startMeasurement();
                stopwatch.startMeasurement();
                if (soak != null) {
                    soak.start();
                }
            }
            if (soak != null) {
                soak.sample();
            }
            if (stopwatch.elapsedSeconds() >= lines + 1) {
                lines++;
                progress.printf(
                    Locale.ROOT, "%3d s  send/write %,d  receive %,d  error %,d%s%n", lines,
                    accounts.completed(SEND_WRITE), accounts.completed(RECEIVE), accounts.completed(ERROR),
                    warm ? "" : "  (warm-up)");
                progress.flush();
            }
            final boolean timeIsUp = warm && config.role().isClient() && config.operations() == 0 &&
                stopwatch.measuredSeconds() >= config.seconds();
            if (timeIsUp || interrupted.await(TICK_MS, TimeUnit.MILLISECONDS)) {
                break;
            }
        }
        return stopwatch;
    }

    private PipelineBuilder describe() {
        final PipelineBuilder builder = Pipeline.builder()
            .ringSize(config.ringSize())
            .batchLimit(config.batchLimit())
            .idleStrategy(config.handlerWait().newIdleStrategy())
            .pollerCpu(config.pinning().cpu("poller"));
        for (final CompletionPath path : CompletionPath.values()) {
            final String role = path.name().toLowerCase(Locale.ROOT).replace('_', '-');
            builder.on(
                EnumSet.of(path), accounts.handler(path),
                options -> options.waitStrategy(config.handlerWait()).cpu(config.pinning().cpu(role)));
        }
        return builder;
    }

    private String waits() {
        final String reason;
        if (config.chosenWait() != null) {
            reason = "as asked";
        } else if (config.pinning().handlerWait().isPresent()) {
            reason = "by plan";
        } else {
            reason = Runtime.getRuntime().availableProcessors() + " cores for " + RunConfig.HOT_THREADS + " hot threads";
        }
        return "waits by " + config.handlerWait().option() + " (" + reason + ")";
    }

    static Thread start(final Runnable work, final String name) {
        final Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
