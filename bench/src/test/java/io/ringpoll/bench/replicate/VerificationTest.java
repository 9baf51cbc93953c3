package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerificationTest {
    private static final long SERIES = 7;

    private final Random random = new Random(1);
    private final ByteString[] contents = new ByteString[6];

    @Test
    void shouldBeContentWithAMinorityThatIsBehindOrHasSomethingElse() {
        final Verification verification = verified(acknowledged(0, 1, 2), log(1, 0, 1, 2), log(1, 0, 1, 2), log(2, 0, 3));
        assertEquals(List.of(), verification.faults());
        assertEquals(3, verification.committed());
        assertEquals(3, verification.records());
    }

    @Test
    void shouldMissAnAcknowledgedRecordThatAMajorityDoesNotHave() {
        assertFault("record 2 of series 7 was acknowledged and is not on 2 of 3 servers",
            verified(acknowledged(0, 1, 2), log(1, 0, 1, 2), log(1, 0, 1), log(1, 0, 1)));
    }

    @Test
    void shouldNotTakeEntriesOfDifferentTermsForTheSame() {
        assertEquals(0, verified(acknowledged(), log(1, 0), log(2, 0), log(3)).committed());
    }

    @Test
    void shouldFindARecordTwice() {
        assertFault("entry 2 holds record 1 of series 7 a second time",
            verified(acknowledged(0, 1), log(1, 0, 1, 1), log(1, 0, 1, 1), log(1)));
    }

    @Test
    void shouldFindAGapAndADisorder() {
        assertFault("entry 1 holds record 2 of series 7 where 1 should be",
            verified(acknowledged(0, 2), log(1, 0, 2), log(1, 0, 2), log(1)));
    }

    @Test
    void shouldDetectAnIncompleteRecord() {
        record(0);
        final byte[] bytes = contents[0].toByteArray();
        bytes[18] ^= 1;
        contents[0] = ByteString.copyFrom(bytes);
        assertFault("entry 0 holds a record that is not whole", verified(acknowledged(), log(1, 0), log(1, 0), log(1)));
    }

    private static void assertFault(final String expected, final Verification verification) {
        assertTrue(verification.faults().contains(expected), verification.faults().toString());
    }

    private static Verification verified(final List<NumberedRecord> acknowledged, final StoredLog... logs) {
        final Verification verification = new Verification(List.of(logs));
        verification.run(acknowledged);
        return verification;
    }

    private static List<NumberedRecord> acknowledged(final int... numbers) {
        final List<NumberedRecord> records = new ArrayList<>();
        for (final int number : numbers) {
            records.add(new NumberedRecord(SERIES, number));
        }
        return records;
    }

    private StoredLog log(final long term, final int... numbers) {
        final List<StoredLog.Entry> entries = new ArrayList<>();
        for (final int number : numbers) {
            entries.add(new StoredLog.Entry(term, record(number)));
        }
        return new StoredLog(Path.of("server"), entries);
    }

    private ByteString record(final int number) {
        if (contents[number] == null) {
            contents[number] = new NumberedRecord(SERIES, number).toBytes(40, random);
        }
        return contents[number];
    }
}
