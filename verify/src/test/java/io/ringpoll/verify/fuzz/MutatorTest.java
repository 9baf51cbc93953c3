package io.ringpoll.verify.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class MutatorTest {
    @Test
    void shouldMakeTheSameInputFromTheSameSeedAndOthersFromOthers() {
        final List<byte[]> examples = List.of("seed=7,poll@1".getBytes(StandardCharsets.UTF_8), new byte[100]);
        final Set<String> different = new HashSet<>();
        for (long seed = 0; seed < 500; seed++) {
            final byte[] input = new Mutator(seed).input(examples);
            assertArrayEquals(input, new Mutator(seed).input(examples));
            different.add(new String(input, StandardCharsets.ISO_8859_1));
        }
        assertTrue(different.size() > 400, different.size() + " different inputs");
    }
}
