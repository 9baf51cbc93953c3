package io.ringpoll.bench.micro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.bench.micro.FlyweightBenchmark.Reading;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class FlyweightBenchmarkTest {
    @ParameterizedTest
    @EnumSource
    void shouldReadTheSameInPlaceAndFromCopies(final Reading reading) {
        final FlyweightBenchmark benchmark = new FlyweightBenchmark();
        benchmark.reading = reading;
        benchmark.setUp();
        final long inPlace = benchmark.flyweight();
        assertEquals(inPlace, benchmark.heapObject());
        assertEquals(inPlace, benchmark.copiedHeapObject());
    }
}
