package io.ringpoll.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pinning the calling thread. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ThreadAffinityTest {
    private static final int NO_SUCH_CPU = 8191;

    private BitSet before;

    @BeforeEach
    void remember() {
        before = ThreadAffinity.get();
    }

    @AfterEach
    void restore() {
        ThreadAffinity.set(before);
    }

    @Test
    void shouldPinTheThreadToOneCpu() {
        assertFalse(before.isEmpty());
        for (int cpu = before.nextSetBit(0); cpu >= 0; cpu = before.nextSetBit(cpu + 1)) {
            ThreadAffinity.pin(cpu);
            final BitSet one = new BitSet();
            one.set(cpu);
            assertEquals(one, ThreadAffinity.get());
            assertEquals(cpu, ThreadAffinity.currentCpu());
        }
    }

    @Test
    void shouldPinNoOtherThread() throws InterruptedException {
        final BitSet[] others = new BitSet[1];
        final int cpu = before.nextSetBit(0);
        final Thread thread = new Thread(() -> {
            ThreadAffinity.pin(cpu);
            others[0] = ThreadAffinity.get();
        });
        thread.start();
        thread.join();
        assertEquals(1, others[0].cardinality());
        assertEquals(before, ThreadAffinity.get());
    }

    @Test
    void shouldTakeMasksOfMoreThanSixtyFourCpus() {
        final BitSet many = (BitSet) before.clone();
        many.set(700);
        ThreadAffinity.set(many);
        assertEquals(before, ThreadAffinity.get(), "the kernel keeps the CPUs that it has");
    }

    @Test
    void shouldTakeAMaskOfAsManyCpusAsThereMayBe() {
        for (final int most : new int[] {1022, 1023, 1024, 1025, 5000, 65_535}) {
            final BitSet many = (BitSet) before.clone();
            many.set(most);
            ThreadAffinity.set(many);
            assertEquals(before, ThreadAffinity.get(), "with CPU " + most);
        }
        final BitSet tooMany = (BitSet) before.clone();
        tooMany.set(65_536);
        assertThrows(IllegalArgumentException.class, () -> ThreadAffinity.set(tooMany));
        assertThrows(OsException.class, () -> ThreadAffinity.pin(65_535));
        assertThrows(IllegalArgumentException.class, () -> ThreadAffinity.pin(65_536));
    }

    @Test
    void shouldNameTheCpuAndTheReasonOfARefusal() {
        final OsException refused = assertThrows(OsException.class, () -> ThreadAffinity.pin(NO_SUCH_CPU));
        assertEquals("cannot pin the thread to CPU " + NO_SUCH_CPU +
            ": not online, or outside the process's cpuset; allowed are " + before, refused.getMessage());
        assertEquals(Errno.EINVAL, refused.errno());
        assertEquals("sched_setaffinity", refused.function());
    }

    @Test
    void shouldRejectInvalidCpus() {
        assertThrows(IllegalArgumentException.class, () -> ThreadAffinity.pin(-1));
        assertThrows(IllegalArgumentException.class, () -> ThreadAffinity.pin(1 << 20));
        assertThrows(IllegalArgumentException.class, () -> ThreadAffinity.set(new BitSet()));
        assertTrue(ThreadAffinity.currentCpu() >= 0);
    }
}
