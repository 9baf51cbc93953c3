package io.ringpoll.bench.suite;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.micro.CountersBenchmark;
import io.ringpoll.bench.micro.FlyweightBenchmark;
import io.ringpoll.bench.micro.HandOffBenchmark;
import io.ringpoll.bench.micro.PollBenchmark;
import io.ringpoll.bench.micro.PostBenchmark;
import io.ringpoll.bench.micro.TimestampPollBenchmark;
import io.ringpoll.bench.micro.WakeUpBenchmark;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The JMH comparisons, part by part. */
final class Comparisons {
    private static final String C = CHandOff.NAME;

    private Comparisons() {
    }

    static List<Comparison> poll(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        for (final int batch : effort != Effort.FULL ? new int[] {0, 32} : new int[] {0, 1, 8, 32, 128}) {
            final Map<String, String> params = Map.of("batch", Integer.toString(batch));
            final String size = batch == 0 ? "poll/empty/" : "poll/" + batch + "/";
            addPoll(all, size + "librpma", "librpma", "librpmaInC", params, batch);
            addPoll(all, size + "librpma-counted", "librpmaCounted", "librpmaInC", params, batch);
            addPoll(all, size + "direct", "direct", "directInC", params, batch);
            // The cost of the binding grows with the batch, if at all: the bare handles need not have each one.
            if (effort == Effort.FULL && batch != 8) {
                addPoll(all, size + "librpma-bare-critical", "librpmaBareCritical", "librpmaInC", params, batch);
                addPoll(all, size + "librpma-bare-plain", "librpmaBarePlain", "librpmaInC", params, batch);
                addPoll(all, size + "direct-bare-critical", "directBareCritical", "directInC", params, batch);
                addPoll(all, size + "direct-bare-plain", "directBarePlain", "directInC", params, batch);
            }
        }
        return all;
    }

    static List<Comparison> verbs() {
        final Variant inC = Variant.of(TimestampPollBenchmark.class, "timestampsInC", Map.of());
        return List.of(
            new Comparison("poll/empty/timestamps", Variant.of(TimestampPollBenchmark.class, "timestamps", Map.of()), C, inC, 1),
            new Comparison("poll/empty/timestamps-bare-critical",
                Variant.of(TimestampPollBenchmark.class, "timestampsBareCritical", Map.of()), C, inC, 1));
    }

    static List<Comparison> flyweight(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        final List<FlyweightBenchmark.Reading> readings = effort != Effort.FULL ? List.of(FlyweightBenchmark.Reading.PATH) :
            List.of(FlyweightBenchmark.Reading.values());
        for (final FlyweightBenchmark.Reading reading : readings) {
            final Map<String, String> params = Map.of("reading", reading.name());
            final String name = "flyweight/" + reading.name().toLowerCase(Locale.ROOT).replace('_', '-');
            final Variant ours = Variant.of(FlyweightBenchmark.class, "flyweight", params);
            all.add(new Comparison(name, ours, "heap-object",
                Variant.of(FlyweightBenchmark.class, "heapObject", params), 1));
            all.add(new Comparison(name, ours, "copied-heap-object",
                Variant.of(FlyweightBenchmark.class, "copiedHeapObject", params), 1));
        }
        return all;
    }

    static List<Comparison> handOff(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        if (effort != Effort.FULL) {
            all.add(handOff(1, WaitMode.BUSY_SPIN, C));
            return all;
        }
        for (final WaitMode wait : WaitMode.values()) {
            // C spins or yields.
            final boolean hasC = wait == WaitMode.BUSY_SPIN || wait == WaitMode.YIELD;
            for (int handlers = 1; handlers <= 3; handlers++) {
                all.add(handOff(handlers, wait, hasC ? C : RingpollHandOff.NAME));
            }
            for (final HandOff copying : wait == WaitMode.BUSY_SPIN ? HandOffs.allCopying() : HandOffs.copying()) {
                if (copying.unavailable().isEmpty()) {
                    all.add(handOff(1, wait, copying.label()));
                }
            }
        }
        return all;
    }

    static List<Comparison> post(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        for (final String operation : List.of("WRITE", "READ")) {
            for (final String bytes : effort != Effort.FULL ? List.of("64") : List.of("64", "4096")) {
                all.add(post(operation, bytes, true));
            }
        }
        // The cost of the budget: the difference to the same write with it.
        all.add(post("WRITE", "64", false));
        return all;
    }

    private static Comparison post(final String operation, final String bytes, final boolean budget) {
        final Map<String, String> params =
            Map.of("operation", operation, "sizeBytes", bytes, "posts",
                (budget ? PostBenchmark.Posts.COUNTED : PostBenchmark.Posts.UNCOUNTED).name());
        return new Comparison("post/" + operation.toLowerCase(Locale.ROOT) + '/' + bytes + "-bytes" +
            (budget ? "" : "-without-budget"),
            Variant.of(PostBenchmark.class, "binding", params), C, Variant.of(PostBenchmark.class, "inC", params), 1);
    }

    static List<Comparison> wakeUp(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        final List<WaitMode> waits = effort == Effort.FULL ? List.of(WaitMode.YIELD, WaitMode.SLEEP) : List.of(WaitMode.SLEEP);
        for (final int quietUs : effort == Effort.FULL ? new int[] {50, 300, 1_000, 10_000} : new int[] {10_000}) {
            final Variant spin = wakeUp(WaitMode.BUSY_SPIN, quietUs);
            for (final WaitMode wait : waits) {
                all.add(new Comparison("wake-up/" + wait.option() + "/after-" + quietUs + "-us", wakeUp(wait, quietUs),
                    WaitMode.BUSY_SPIN.option(), spin, 1));
            }
        }
        return all;
    }

    static List<Comparison> counters(final Effort effort) {
        final List<Comparison> all = new ArrayList<>();
        for (final int batch : effort != Effort.FULL ? new int[] {32} : new int[] {0, 1, 32}) {
            final Map<String, String> params = Map.of("batch", Integer.toString(batch));
            all.add(new Comparison("counters/" + (batch == 0 ? "empty" : batch),
                Variant.of(CountersBenchmark.class, "dutyCycle", params), "without",
                Variant.of(CountersBenchmark.class, "bare", params), Math.max(1, batch)));
        }
        return all;
    }

    private static void addPoll(final List<Comparison> all, final String name, final String ours, final String baseline,
        final Map<String, String> params, final int batch) {
        all.add(new Comparison(name, Variant.of(PollBenchmark.class, ours, params), C,
            Variant.of(PollBenchmark.class, baseline, params), Math.max(1, batch)));
    }

    private static Comparison handOff(final int handlers, final WaitMode wait, final String against) {
        final String how = handlers + "-handlers/" + wait.option();
        final WaitMode waitOfOther = RingpollHandOff.NAME.equals(against) ? WaitMode.YIELD : wait;
        return new Comparison("hand-off/" + how, handOffVariant(RingpollHandOff.NAME, handlers, wait), against,
            handOffVariant(against, handlers, waitOfOther), 1);
    }

    private static Variant handOffVariant(final String label, final int handlers, final WaitMode wait) {
        return Variant.of(HandOffBenchmark.class, "completions",
            Map.of("handOff", label, "handlers", Integer.toString(handlers), "waitStrategy", wait.name()));
    }

    private static Variant wakeUp(final WaitMode wait, final int quietUs) {
        return Variant.of(WakeUpBenchmark.class, "postToPolled",
            Map.of("wait", wait.name(), "quietUs", Integer.toString(quietUs)));
    }
}
