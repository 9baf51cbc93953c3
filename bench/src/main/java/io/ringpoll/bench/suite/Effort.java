package io.ringpoll.bench.suite;

import io.ringpoll.bench.measure.Interval;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The amount and the duration of the measurements. */
public enum Effort {
    /** Each measurement for a moment: checks that everything works, without meaningful figures. */
    GLANCE,
    /** The most important measurements, in less than six minutes; a few points of {@link Part#GROWTH}. */
    QUICK,
    /** As {@link #QUICK}, with enough rounds for intervals, and all points of {@link Part#GROWTH}. */
    USUAL,
    /** All measurements, with the settings of the annotations and enough rounds for intervals; about 70 minutes. */
    FULL;

    private static final int QUICK_ROUNDS = 3;
    private static final int QUICK_WARM_UPS = 2;
    private static final int QUICK_MEASUREMENTS = 5;
    private static final TimeValue MOMENT = TimeValue.milliseconds(20);
    private static final TimeValue QUICK_WARM_UP = TimeValue.milliseconds(200);
    private static final TimeValue QUICK_MEASUREMENT = TimeValue.milliseconds(100);
    /** The overhead of a JVM: start, set-up, end. */
    private static final long JVM_NS = TimeUnit.MILLISECONDS.toNanos(1500);

    /** The number of rounds of JMH benchmarks, each in a new JVM, in turns. */
    int rounds() {
        return switch (this) {
            case GLANCE -> 1;
            case QUICK -> QUICK_ROUNDS;
            case USUAL, FULL -> Interval.FEWEST_RUNS;
        };
    }

    /** Overrides the annotations with shorter times, if needed. */
    void apply(final ChainedOptionsBuilder options) {
        if (this == GLANCE) {
            options.warmupIterations(1).warmupTime(MOMENT).measurementIterations(1).measurementTime(MOMENT);
        } else if (this != FULL) {
            options.warmupIterations(QUICK_WARM_UPS).warmupTime(QUICK_WARM_UP)
                .measurementIterations(QUICK_MEASUREMENTS).measurementTime(QUICK_MEASUREMENT);
        }
    }

    /** The time of a round of a JMH benchmark on an idle machine, nanoseconds. */
    long expectedNs(final Variant variant) {
        return JVM_NS + switch (this) {
            case GLANCE -> 2 * nanos(MOMENT);
            case QUICK, USUAL -> QUICK_WARM_UPS * nanos(QUICK_WARM_UP) + QUICK_MEASUREMENTS * nanos(QUICK_MEASUREMENT);
            case FULL -> annotatedNs(variant.benchmark());
        };
    }

    private static long annotatedNs(final Class<?> benchmark) {
        final Warmup warmUp = benchmark.getAnnotation(Warmup.class);
        final Measurement measurement = benchmark.getAnnotation(Measurement.class);
        return warmUp.iterations() * warmUp.timeUnit().toNanos(warmUp.time()) +
            measurement.iterations() * measurement.timeUnit().toNanos(measurement.time());
    }

    private static long nanos(final TimeValue time) {
        return time.convertTo(TimeUnit.NANOSECONDS);
    }
}
