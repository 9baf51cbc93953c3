package io.ringpoll.verify.torture.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the two processes draw from one seed. */
@Timeout(60)
class ProcessShapeTest {
    private static final int MANY = 300;

    @Test
    void shouldDrawTheSameShapeFromTheSameSeedAndAllFatesFromAFew() {
        final Set<Object> drawn = new HashSet<>();
        for (long seed = 0; seed < MANY; seed++) {
            final ProcessShape shape = shape(seed);
            assertEquals(shape.toString(), shape(seed).toString());
            shape.peers().stream().flatMap(List::stream).forEach(life -> {
                drawn.add(life.fate());
                drawn.add(life.connections());
            });
        }
        assertEquals(Life.Fate.values().length + 4, drawn.size());
        assertTrue(LongStream.range(0, MANY).anyMatch(seed -> shape(seed).plan().isPresent()));
        assertTrue(LongStream.range(0, MANY).anyMatch(seed -> shape(seed).peers().size() == 2));
    }

    @Test
    void shouldDrawMessagesOfAllKindsAndLengths() {
        final Set<Object> drawn = new HashSet<>();
        for (int sequence = 1; sequence < MANY; sequence++) {
            final Message message = Message.of(1, sequence, 1 << 20);
            assertEquals(message, Message.of(1, sequence, 1 << 20));
            assertTrue(message.length() >= 0 && message.length() <= 1 << 20, message::toString);
            drawn.add(message.kind());
            drawn.add(Integer.SIZE - Integer.numberOfLeadingZeros(message.length()));
        }
        assertTrue(drawn.size() >= Message.Kind.values().length + 15, drawn::toString);
    }

    @Test
    void shouldNumberTheSidesOfAllConnectionsDifferently() {
        final Set<Long> numbers = new HashSet<>();
        final Life life = shape(1).peers().getFirst().getFirst();
        for (int connection = 0; connection < 4; connection++) {
            numbers.add(life.number(connection, false));
            numbers.add(life.number(connection, true));
        }
        assertEquals(8, numbers.size());
    }

    private static ProcessShape shape(final long seed) {
        return ProcessShape.draw(new SplittableRandom(seed), true);
    }
}
