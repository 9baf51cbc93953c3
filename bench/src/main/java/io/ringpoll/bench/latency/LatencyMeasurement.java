package io.ringpoll.bench.latency;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.baseline.CLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.Link;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.bench.link.Purpose;
import io.ringpoll.bench.link.RemoteLink;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.bench.plot.PercentilePlot;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from a completion to its handler, as percentiles, of ringpoll and its baselines in turns. Used by one thread.
 */
public final class LatencyMeasurement {
    /** The label of perftest, a baseline in ping-pong over an RDMA device. */
    public static final String PERFTEST = PerftestContestant.NAME;

    private static final Turn WARM_UP_TURN = new Turn(0, 0, TimeUnit.SECONDS.toNanos(1), 0);
    /** A round that is not recorded, for the check of memory placement. */
    private static final Turn CENSUS_TURN = new Turn(0, 0, TimeUnit.MILLISECONDS.toNanos(100), 0);

    private final LatencyConfig config;
    private final Optional<NodeCensus> census;
    private final PrintWriter progress;
    private final boolean verbose;
    private String host;
    private int port;
    /** Of librpma until a run over a device has begun: the synthetic queue has no connection. */
    private RdmaApi api = RdmaApi.RPMA;
    private List<LatencyReport> reports = List.of();
    /** Null for queues of librpma and synthetic ones, which have none. */
    private Timestamps timestamps;

    /**
     * Creates a measurement.
     *
     * @param config   its settings
     * @param census   census of memory placement, run in a separate turn; may be empty
     * @param progress receives a line for each measurement
     * @param verbose  whether it also receives a line for each turn
     */
    public LatencyMeasurement(
        final LatencyConfig config, final Optional<NodeCensus> census, final PrintWriter progress, final boolean verbose) {
        this.config = config;
        this.census = census;
        this.progress = progress;
        this.verbose = verbose;
    }

    /**
     * Measures over the synthetic queue, and writes the files.
     *
     * @throws TimeoutException if completions do not arrive
     */
    public void run() throws TimeoutException {
        reports = List.of(overSynthetic(config.threads()));
        write();
    }

    /**
     * Measures over a device, and writes the files.
     *
     * @param binding     what makes the connections
     * @param address     address of the device
     * @param portOfPairs port of the temporary listeners
     * @throws TimeoutException if completions do not arrive
     */
    public void run(final RdmaApi binding, final String address, final int portOfPairs) throws TimeoutException {
        host = address;
        api = binding;
        port = portOfPairs;
        reports = overDevice(config.threads());
        write();
    }

    /**
     * Measures to a server in another process, and writes the files.
     *
     * @param binding    what makes the connection
     * @param serverHost address of the server
     * @param serverPort port of the server
     * @throws IllegalStateException if there is no server, or it has gone
     * @throws TimeoutException      if completions do not arrive
     */
    public void runToServer(final RdmaApi binding, final String serverHost, final int serverPort) throws TimeoutException {
        api = binding;
        try (RcPeer peer = api.ofRemote(serverHost)) {
            findTimestamps(peer);
        }
        final List<LatencyReport> measured = new ArrayList<>();
        try (RemoteLink link = RemoteLink.connect(api, serverHost, serverPort, Purpose.ANSWER);
            RemoteLink timed = hasTimestamps() ?
                RemoteLink.connect(api, serverHost, serverPort, Purpose.ANSWER, true) : null) {
            for (final int size : config.sizes()) {
                final List<Contestant> contestants = new ArrayList<>();
                contestants.add(ours(link, size, config.threads(), null));
                if (timed != null) {
                    contestants.add(ours(timed, size, config.threads(), timestamps));
                }
                measured.add(play(nameOverDevice("/to-server/", size), contestants, config.threads()));
            }
            link.sayGoodbye();
            if (timed != null) {
                timed.sayGoodbye();
            }
        }
        reports = measured;
        write();
    }

    /**
     * Whether no run is marked as doubtful.
     *
     * @return false if one missed its rate, lost its CPU or was not pinned
     */
    public boolean isClean() {
        return reports.stream().allMatch(LatencyReport::isClean);
    }

    /**
     * The runs of which no latency was recorded.
     *
     * @return names of contestant and measurement, with the first fault; empty if each has recorded some
     */
    public List<String> unrecorded() {
        return reports.stream().flatMap(LatencyReport::unrecorded).toList();
    }

    /**
     * Prints the tables.
     *
     * @param out text output
     */
    public void print(final PrintWriter out) {
        reports.forEach(report -> report.printTable(out));
        if (timestamps != null) {
            timestamps.print(out);
        }
        Goals.print(results(reports), out);
        out.flush();
        census.ifPresent(out::println);
    }

    /**
     * The measurements as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        return JsonText.of(document());
    }

    /**
     * Finds hand-offs by their labels, for the synthetic queue.
     *
     * @param against labels; also those of {@link HandOffs#baselines}, {@code none} for none
     * @return ringpoll, then the others
     * @throws IllegalArgumentException if there is no such hand-off
     */
    public static List<HandOff> handOffs(final List<String> against) {
        final List<HandOff> handOffs = new ArrayList<>(List.of(new RingpollHandOff()));
        handOffs.addAll(HandOffs.baselines(
            against.stream().filter(label -> !List.of("none", PerftestContestant.NAME).contains(label)).toList()));
        return handOffs;
    }

    private LatencyReport overSynthetic(final HotThreads threads) throws TimeoutException {
        final List<HandOff> handOffs = HandOffs.available(handOffs(config.against()), progress);
        final String name = "latency/synthetic/" + config.perSecond() + "-per-second";
        try (SyntheticSource source = SyntheticSource.open()) {
            final List<Contestant> contestants = new ArrayList<>();
            handOffs.forEach(handOff ->
                contestants.add(new SyntheticContestant(handOff, source, config.schedule(), threads)));
            return play(name, contestants, threads);
        }
    }

    private List<LatencyReport> overDevice(final HotThreads threads) throws TimeoutException {
        try (RcPeer peer = api.ofLocal(host)) {
            findTimestamps(peer);
        }
        final List<LatencyReport> measured = new ArrayList<>();
        for (final int size : config.sizes()) {
            final List<Contestant> contestants = new ArrayList<>();
            try {
                contestants.add(oursBetween(new LinkedPair(api, host, port), size, threads, null));
                if (hasTimestamps()) {
                    contestants.add(oursBetween(new LinkedPair(api, host, port, true), size, threads, timestamps));
                }
                for (final String label : new LinkedHashSet<>(config.against())) {
                    addC(label, size, threads, contestants);
                }
                measured.add(play(nameOverDevice("/", size), contestants, threads));
            } finally {
                contestants.forEach(Contestant::close);
            }
        }
        return measured;
    }

    /** The clock of the device, if the binding can use it. The context of the peer lives as long as the process. */
    private void findTimestamps(final RcPeer peer) {
        timestamps = api == RdmaApi.VERBS ? Timestamps.of(peer.context()) : null;
    }

    private boolean hasTimestamps() {
        return timestamps != null && timestamps.isOffered();
    }

    private String nameOverDevice(final String where, final int size) {
        final String how = config.mode() == LatencyConfig.Mode.PING_PONG ? "-ping-pong" :
            "-at-" + config.perSecond() + "-per-second";
        return "latency/" + config.over().name().toLowerCase(Locale.ROOT) + api.pathSuffix() + where +
            config.operation().name().toLowerCase(Locale.ROOT) + how + "/" + size + "-bytes";
    }

    private Contestant ours(final Link link, final int size, final HotThreads threads, final Timestamps clock) {
        return config.mode() == LatencyConfig.Mode.PING_PONG ?
            new RingpollPingPong(link, config.operation(), size, threads, config.runToCompletion(), clock) :
            new RingpollPacedPosts(link, config.operation(), size, config.schedule(), threads, clock);
    }

    /** A paced send ends at the server: both ends are in this process. */
    private Contestant oursBetween(
        final LinkedPair pair, final int size, final HotThreads threads, final Timestamps clock) {
        return config.mode() == LatencyConfig.Mode.RATE && config.operation() == Traffic.Operation.SEND ?
            new RingpollPacedSends(pair, size, config.schedule(), threads, clock) : ours(pair, size, threads, clock);
    }

    private void addC(
        final String label, final int size, final HotThreads threads, final List<Contestant> contestants) {
        if (List.of("none", RingpollHandOff.NAME).contains(label)) {
            return;
        }
        if (PerftestContestant.NAME.equals(label)) {
            contestants.add(new PerftestContestant(config.operation(), host, size));
            return;
        }
        final CLink link = CLink.open(host, Integer.toString(port));
        contestants.add(config.mode() == LatencyConfig.Mode.PING_PONG ?
            CLinkContestant.pingPong(link, CHandOff.BARE_NAME.equals(label), config.operation(), size, threads) :
            CLinkContestant.paced(link, config.operation(), size, config.schedule(), threads));
    }

    private LatencyReport play(
        final String name, final List<Contestant> contestants, final HotThreads threads) throws TimeoutException {
        progress.println(name + ": " + config.rounds() + " turns of each of " +
            contestants.stream().map(Contestant::label).toList());
        progress.flush();
        new LatencyMeter(contestants.stream().filter(Contestant::warmsUp).toList(), config.seed())
            .play(config.warmUpRounds(), WARM_UP_TURN, window -> { });
        final LatencyMeter meter = new LatencyMeter(contestants, config.seed());
        final Map<String, List<LatencyWindow>> windows =
            meter.play(config.rounds(), config.turn(), this::show);
        if (census.isPresent()) {
            census.get().during(() -> meter.play(1, CENSUS_TURN, window -> { }));
        }
        final List<LatencyRun> runs = new ArrayList<>();
        windows.forEach((label, turns) -> runs.add(
            LatencyRun.of(label, turns, threads.cpus(), CHandOff.BARE_NAME.equals(label) ? 0 : threads.handlers())));
        return new LatencyReport(name, runs);
    }

    private void show(final LatencyWindow window) {
        if (verbose) {
            progress.printf(Locale.ROOT,
                "%4d %-24s p50 %,8d  p90 %,8d  p99 %,9d  p99.9 %,10d  max %,12d ns; lost %.2f ms, gap %.3f ms%s%n",
                window.round(), window.label(), window.percentileNs(50), window.percentileNs(90), window.percentileNs(99),
                window.percentileNs(99.9), window.latencyNs().getMaxValue(), window.loss().lostNs() / 1e6,
                window.longestGapNs() / 1e6, window.fault().isEmpty() ? "" : "; " + window.fault());
            progress.flush();
        }
    }

    private void write() {
        if (config.output() == null) {
            return;
        }
        for (final LatencyReport report : reports) {
            HistogramFiles.write(report, config.output());
            final Map<String, Histogram> histograms = new LinkedHashMap<>();
            report.runs().forEach(run -> histograms.put(run.label(), run.total()));
            PercentilePlot.draw(report.name(), histograms, config.output(), HistogramFiles.fileName(report.name()));
        }
        try {
            Files.writeString(config.output().resolve("latency.json"), toJson());
        } catch (final IOException e) {
            throw new UncheckedIOException("cannot write to " + config.output(), e);
        }
    }

    private static List<BenchResult> results(final List<LatencyReport> reports) {
        return reports.stream().flatMap(report -> report.results().stream()).toList();
    }

    private ObjectNode document() {
        final ObjectNode root = JsonText.document(api, results(reports));
        reports.forEach(report -> report.addTo(root));
        if (timestamps != null) {
            timestamps.addTo(root);
        }
        census.ifPresent(looked -> looked.addTo(root));
        return root;
    }
}
