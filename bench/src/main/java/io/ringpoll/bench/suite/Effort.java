package io.ringpoll.bench.suite;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** How much is measured, and how long. */
public enum Effort {
    /** Each for a moment: shows that everything works, not how fast. */
    GLANCE,
    /** What matters most, in less than five minutes. */
    QUICK,
    /** Everything, by what the benchmarks' annotations say; about half an hour. */
    FULL;

    private static final int ROUNDS = 3;
    private static final int QUICK_WARM_UPS = 2;
    private static final int QUICK_MEASUREMENTS = 5;
    private static final TimeValue MOMENT = TimeValue.milliseconds(20);
    private static final TimeValue QUICK_WARM_UP = TimeValue.milliseconds(200);
    private static final TimeValue QUICK_MEASUREMENT = TimeValue.milliseconds(100);
    /** What a JVM takes besides: its start, its set-up, its end. */
    private static final long JVM_NS = TimeUnit.MILLISECONDS.toNanos(1500);

    /** How often each JMH benchmark is run, each time in a JVM of its own, all of them in turns. */
    int rounds() {
        return this == GLANCE ? 1 : ROUNDS;
    }

    /** Shortens what annotations say, or leaves it. */
    void apply(final ChainedOptionsBuilder options) {
        if (this == GLANCE) {
            options.warmupIterations(1).warmupTime(MOMENT).measurementIterations(1).measurementTime(MOMENT);
        } else if (this == QUICK) {
            options.warmupIterations(QUICK_WARM_UPS).warmupTime(QUICK_WARM_UP)
                .measurementIterations(QUICK_MEASUREMENTS).measurementTime(QUICK_MEASUREMENT);
        }
    }

    /** How long a round of a JMH benchmark takes on a machine that does nothing else, nanoseconds. */
    long expectedNs(final Variant variant) {
        return JVM_NS + switch (this) {
            case GLANCE -> 2 * nanos(MOMENT);
            case QUICK -> QUICK_WARM_UPS * nanos(QUICK_WARM_UP) + QUICK_MEASUREMENTS * nanos(QUICK_MEASUREMENT);
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
