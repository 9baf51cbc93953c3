package io.ringpoll.bench.instructions;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.echo.SaturatedEcho;
import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.micro.PollBenchmark;
import io.ringpoll.bench.micro.PostBenchmark;
import io.ringpoll.internal.binding.Libraries;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A kind of work, done by ringpoll and by a baseline: in C, or for echoes by hand on the pipeline. Its label is that of the
 * measurement of its time.
 */
enum InstructionPoint {
    /** A poll of an empty queue through librpma. */
    EMPTY_POLL("poll/empty/librpma", "call",
        () -> poll(0, "rpma_cq_get_wc", PollBenchmark::librpma), () -> poll(0, "rpma_cq_get_wc", PollBenchmark::librpmaInC)),
    /** A poll of 32 completions that counts them for the budget of the queue. */
    COUNTED_POLL("poll/32/librpma-counted", "call",
        () -> poll(HandOffSubject.BATCH, "rpma_cq_get_wc", PollBenchmark::librpmaCounted),
        () -> poll(HandOffSubject.BATCH, "rpma_cq_get_wc", PollBenchmark::librpmaInC)),
    /** A write of 64 bytes: the post, and the polls of its completion. */
    WRITE("post/write/64-bytes", "write", () -> post(PostBenchmark::binding), () -> post(PostBenchmark::inC)),
    /** The duty cycle of a poller that finds a full batch. */
    POLLER("poller", "batch of 32", () -> poller(new RingpollHandOff(), "bench-poller"),
        () -> poller(CHandOff.withThreads(), "bench-c-poller")),
    /** A poll by a poller whose queues are all empty. */
    EMPTY_ROUND("poller/50-queues-empty", "poll", () -> round(new RingpollHandOff(), "bench-poller"),
        () -> round(CHandOff.withThreads(), "bench-c-poller")),
    /** The only handler, for all paths. */
    HANDLER("handler", "completion", () -> handler(new RingpollHandOff(), 1, "bench-handler-0"),
        () -> handler(CHandOff.withThreads(), 1, "bench-c-hand-0")),
    /** The handler of sends and writes, which are half of the completions. */
    SEND_HANDLER("handler/send-write-of-3", "completion", () -> handler(new RingpollHandOff(), 3, "bench-handler-0"),
        () -> handler(CHandOff.withThreads(), 3, "bench-c-hand-0")),
    /** The handler of errors, which are one in 1,024 completions; it classifies all of them. */
    ERROR_HANDLER("handler/error-of-3", "completion", () -> handler(new RingpollHandOff(), 3, "bench-handler-2"),
        () -> handler(CHandOff.withThreads(), 3, "bench-c-hand-2")),
    /** A message at a server with one connection. */
    ECHO_1(1, true),
    /** A message at a server with 20 connections. */
    ECHO_20(20, true),
    /** A message at a client with 20 connections. */
    ECHO_CLIENT_20(20, false),
    /** A message at a server with 1,000 connections. */
    ECHO_1000(1_000, true);

    /** Fewer than a poller polls in an adaptive round. */
    private static final int QUEUES = 50;

    private final String label;
    private final String unit;
    private final Supplier<Subject> ringpoll;
    private final String baselineName;
    private final Supplier<Subject> baseline;

    /** Work of ringpoll and of C. */
    InstructionPoint(final String label, final String unit, final Supplier<Subject> ringpoll, final Supplier<Subject> baseline) {
        this.label = label;
        this.unit = unit;
        this.ringpoll = ringpoll;
        this.baselineName = CHandOff.NAME;
        this.baseline = baseline;
    }

    /** An echo with module {@code connections}, and by hand. */
    InstructionPoint(final int connections, final boolean isServer) {
        label = "echo/" + connections + "-connections/" + (isServer ? "server" : "client");
        unit = "message";
        ringpoll = () -> new EchoThread(true, connections, isServer, address("rpma_recv"));
        baselineName = SaturatedEcho.label(false);
        baseline = () -> new EchoThread(false, connections, isServer, address("rpma_recv"));
    }

    /** The name in results. */
    String label() {
        return label;
    }

    /** The unit of work of a figure. */
    String unit() {
        return unit;
    }

    /** The name of the contestant that ringpoll is compared with. */
    String baselineName() {
        return baselineName;
    }

    /** Starts the thread of a contestant, {@link RingpollHandOff#NAME} or {@link #baselineName()}. */
    Subject start(final String contestant) {
        return (contestant.equals(baselineName) ? baseline : ringpoll).get();
    }

    private static Subject poll(final int batch, final String function, final Consumer<PollBenchmark> calls) {
        final PollBenchmark benchmark = new PollBenchmark();
        benchmark.batch = batch;
        benchmark.setUp();
        return new CallSubject(() -> calls.accept(benchmark), address(function), benchmark::tearDown);
    }

    private static Subject post(final Consumer<PostBenchmark> calls) {
        final PostBenchmark benchmark = new PostBenchmark();
        benchmark.operation = Traffic.Operation.WRITE;
        benchmark.sizeBytes = 64;
        benchmark.posts = PostBenchmark.Posts.COUNTED;
        benchmark.setUp();
        return new CallSubject(() -> calls.accept(benchmark), address("rpma_write"), benchmark::tearDown);
    }

    private static long address(final String function) {
        return Libraries.current().rpma().find(function).orElseThrow().address();
    }

    private static Subject poller(final HandOff handOff, final String thread) {
        return new HandOffSubject(handOff, 1, thread, true, HandOffSubject.BATCH);
    }

    private static Subject round(final HandOff handOff, final String thread) {
        return new RoundSubject(handOff, QUEUES, thread, address("rpma_cq_get_wc"));
    }

    private static Subject handler(final HandOff handOff, final int handlers, final String thread) {
        return new HandOffSubject(handOff, handlers, thread, false, 1);
    }
}
