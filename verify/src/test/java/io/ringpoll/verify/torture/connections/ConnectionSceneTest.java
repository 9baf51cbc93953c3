package io.ringpoll.verify.torture.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verify.torture.supervised.ResourceCensus;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A few scenes in this process; {@code ./ringpoll torture --connections} plays more of them in others. */
@Timeout(300)
class ConnectionSceneTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag(TestDevice.TAG)
    @CsvSource({"RPMA, 6", "RPMA, 17", "VERBS, 6"})
    @LoopbackCases({"RPMA, 4", "RPMA, 10", "VERBS, 4"})
    void shouldEndAsTheModelPredicts(final RdmaApi api, final long seed) throws InterruptedException {
        new ConnectionScene(seed, api, TestDevice.address(), folder).play();
        final ResourceCensus census = new ResourceCensus(api, folder);
        final Map<String, Long> before = census.count();
        final ConnectionScene scene = new ConnectionScene(seed, api, TestDevice.address(), folder);
        scene.play();
        census.compare(before, scene.threadPrefix(), scene.violations());
        assertTrue(scene.violations().isEmpty(), () -> scene.shape() + ": " + scene.violations().lines());
        assertTrue(scene.operations() > 0, scene.shape()::toString);
    }

    @Test
    void shouldDrawTheSameShapeFromTheSameSeedAndAllKindsFromAFew() {
        final Set<Object> kinds = new HashSet<>();
        for (long seed = 0; seed < 300; seed++) {
            final ConnectionShape shape = shape(seed);
            assertEquals(shape, shape(seed));
            kinds.add(shape.setEnd());
            kinds.add(shape.finish());
            kinds.add(shape.server().idle());
            kinds.add(shape.server().errors());
        }
        assertEquals(ConnectionShape.SetEnd.values().length + ConnectionShape.Finish.values().length +
            WaitMode.values().length + SetShape.Errors.values().length, kinds.size());
        assertTrue(LongStream.range(0, 300).anyMatch(seed -> shape(seed).connections() == 1000));
        assertTrue(LongStream.range(0, 300).anyMatch(seed -> shape(seed).isHarmful()));
        assertTrue(LongStream.range(0, 300).anyMatch(seed -> shape(seed).server().operations() > 0));
        assertTrue(LongStream.range(0, 300).anyMatch(seed -> shape(seed).server().operations() == 0));
    }

    @Test
    void shouldKnowThePlansByWhichAMessageSeemsTooLong() {
        int plans = 0;
        for (long seed = 0; seed < 3000; seed++) {
            final ConnectionShape shape = shape(seed);
            final boolean isTooLong = shape.toString().matches(".*status:loc-(len|qp-op)-err:recv.*");
            assertEquals(isTooLong, shape.mayReceiveTooLong(), shape::toString);
            plans += isTooLong ? 1 : 0;
        }
        assertTrue(plans > 0);
    }

    @Test
    void shouldRecogniseEachByteOfAMessage() {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        for (long sequence = 0; sequence < 50; sequence++) {
            final int length = Content.length(3, sequence, buffer.capacity());
            Content.write(3, sequence, buffer, 0, length);
            assertTrue(Content.isRight(3, sequence, buffer.capacity(), buffer, 0, length));
            for (int i = 0; i < length; i++) {
                buffer.putByte(i, (byte) (buffer.getByte(i) ^ 1));
                assertFalse(Content.isRight(3, sequence, buffer.capacity(), buffer, 0, length), sequence + ", byte " + i);
                buffer.putByte(i, (byte) (buffer.getByte(i) ^ 1));
            }
        }
    }

    private static ConnectionShape shape(final long seed) {
        return ConnectionShape.draw(new SplittableRandom(seed), true);
    }
}
