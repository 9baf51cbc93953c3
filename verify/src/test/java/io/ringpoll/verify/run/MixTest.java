package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class MixTest {
    @Test
    void shouldChooseOperationsByTheirShares() {
        final Mix mix = Mix.parse("write=3,send=1,fail=4");
        final Map<OperationKind, Integer> chosen = new EnumMap<>(OperationKind.class);
        final int draws = 1 << 20;
        for (int i = 0; i < draws; i++) {
            chosen.merge(mix.choose(Payload.mix(i)), 1, Integer::sum);
        }
        assertEquals(2, chosen.size());
        assertEquals(0.75, chosen.get(OperationKind.WRITE) / (double) draws, 0.01);
        assertEquals(0.5, mix.share(OperationKind.FAILING));
    }

    @Test
    void shouldKeepTheSharesOfOtherOperationsWithAHighFailureShare() {
        final Mix mix = Mix.parse("write=40,send=3,read=20,write-imm=9.9,fail=362181435447972.1");
        int writes = 0;
        final int draws = 1 << 16;
        for (int i = 0; i < draws; i++) {
            writes += mix.choose(Payload.mix(i)) == OperationKind.WRITE ? 1 : 0;
        }
        assertEquals(40 / 72.9, writes / (double) draws, 0.01);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "jump=1 | 'jump=1' is not an operation and its weight; operations are write, send, read, write-imm, fail",
        "write=-1 | 'write=-1' has no weight that is a number of 0 or more",
        "write=x | 'write=x' has no weight that is a number of 0 or more",
        "write=1,write=2 | 'write' is named twice",
        "write=1e308,send=1e308 | the weights are too large to be added up",
        "write=1e-300,fail=1e300 | at least one operation that can succeed must have a weight above 0",
        "write=0,fail=0 | at least one operation that can succeed must have a weight above 0",
        "fail=1 | at least one operation that can succeed must have a weight above 0"
    })
    void shouldNameTheErrorOfAMix(final String text, final String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> Mix.parse(text)).getMessage());
    }
}
