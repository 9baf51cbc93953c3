package io.ringpoll.bench.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The selection of the build of the C baseline by CPU. */
@Timeout(60)
class BaselineLibraryTest {
    private static final String NATIVE = "libringpoll_baseline_native.so";

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "fpu sse2 avx512f | flags : fpu sse2 avx avx512f | libringpoll_baseline_native.so",
        "fpu sse2 avx512f | flags : fpu sse2 avx2 avx512 | libringpoll_baseline.so",
        "fp asimd         | Features : fp asimd aes      | libringpoll_baseline_native.so",
        "fpu sse2         | model name : fpu sse2        | libringpoll_baseline.so",
        "''               | flags : fpu sse2             | libringpoll_baseline.so",
    })
    void shouldUseTheBuildForTheMachineOnlyWhereItsInstructionsExist(
        final String needed, final String cpuinfo, final String chosen) {
        assertEquals(chosen, BaselineLibrary.choose(needed, "processor : 0\n" + cpuinfo + "\nbugs : none\n"));
    }

    @Test
    void shouldUseTheBuildForTheMachineThatItWasBuiltOn() {
        assertTrue(BaselineLibrary.find().endsWith(NATIVE), () -> BaselineLibrary.find().toString());
    }
}
