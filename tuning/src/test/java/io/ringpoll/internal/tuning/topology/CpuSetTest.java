package io.ringpoll.internal.tuning.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CpuSetTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0|0", "0-3|0-3", "0,1|0-1", "3,1,2|1-3", " 0-1,8 |0-1,8", "0-10:1/2|0,2,4,6,8,10", "4-9:2/3|4-5,7-8",
        "64-127,200|64-127,200", "(null)|''", "''|''"})
    void shouldReadTheKernelsListFormat(final String list, final String canonical) {
        assertEquals(canonical, CpuSet.parse(list).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "1-", "-1", "3-1", "1,,2", "0-3:1", "0-3:0/2", "0-3:3/2", "99999999999", "70000", "0x3"})
    void shouldReportTheInvalidPartOfAList(final String list) {
        final String message = assertThrows(IllegalArgumentException.class, () -> CpuSet.parse(list)).getMessage();
        assertTrue(message.startsWith("CPU list '" + list + "': "), message);
    }

    @Test
    void shouldParseItsOwnText() {
        final Random random = new Random(7);
        for (int i = 0; i < 1000; i++) {
            final CpuSet set = CpuSet.of(random.ints(random.nextInt(20), 0, 300).toArray());
            assertEquals(set, CpuSet.parse(set.toString()));
        }
    }

    @Test
    void shouldDoSetArithmeticBeyond64Cpus() {
        final CpuSet low = CpuSet.range(0, 99);
        final CpuSet high = CpuSet.range(80, 199);
        assertEquals("80-99", low.and(high).toString());
        assertEquals("0-199", low.or(high).toString());
        assertEquals("100-199", high.minus(low).toString());
        assertEquals(120, high.size());
        assertTrue(low.intersects(high));
        assertTrue(high.contains(199));
        assertFalse(high.contains(-1));
        assertFalse(low.containsAll(high));
        assertEquals(80, high.first().orElseThrow());
        assertTrue(CpuSet.EMPTY.first().isEmpty());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"0|''", "1|0", "fc|2-7", "ff,fffffffc|2-39", "00000000,00000003|0-1", "100000000|32",
        "1,00000000,00000000|64"})
    void shouldReadAndWriteTheMasksOfTheKernel(final String mask, final String list) {
        final CpuSet set = CpuSet.parse(list);
        assertEquals(set, CpuSet.parseMask(mask));
        assertEquals(set, CpuSet.parseMask(set.mask()));
    }

    @Test
    void shouldWriteMasksInGroupsOf32Bits() {
        assertEquals("ff,fffffffc", CpuSet.range(2, 39).mask());
        assertEquals("0", CpuSet.EMPTY.mask());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0x3", "3,,1", "2-5"})
    void shouldRefuseWhatIsNoMask(final String mask) {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> CpuSet.parseMask(mask)).getMessage().contains(mask));
    }
}
