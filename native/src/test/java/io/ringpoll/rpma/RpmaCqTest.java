package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The two forms of {@code struct rpma_cq}, made by hand: no machine has a library of each. */
@Timeout(60)
class RpmaCqTest {
    private static final int FD = 17;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment context = arena.allocate(64, 8);
    private final MemorySegment channel = arena.allocate(64, 8);
    private final MemorySegment cq = arena.allocate(64, 8);
    private final MemorySegment rpmaCq = arena.allocate(24, 8);

    RpmaCqTest() {
        channel.set(ValueLayout.JAVA_LONG, 0, context.address());
        channel.set(ValueLayout.JAVA_INT, 8, FD);
        cq.set(ValueLayout.JAVA_LONG, 0, context.address());
        cq.set(ValueLayout.JAVA_LONG, 8, channel.address());
        rpmaCq.set(ValueLayout.JAVA_LONG, 0, channel.address());
    }

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldFindTheQueueWhereLibrariesWithSharedChannelsHaveIt() {
        rpmaCq.set(ValueLayout.JAVA_LONG, 16, cq.address());
        assertEquals(cq.address(), RpmaCq.ibvCq(rpmaCq.address(), FD, true));
    }

    @Test
    void shouldFindTheQueueWhereOlderLibrariesHaveItAndReadNoFurther() {
        rpmaCq.set(ValueLayout.JAVA_LONG, 8, cq.address());
        // The memory after the older struct may contain anything, including a value that looks like a pointer.
        rpmaCq.set(ValueLayout.JAVA_LONG, 16, 0x7fff_0000_0008L);
        assertEquals(cq.address(), RpmaCq.ibvCq(rpmaCq.address(), FD, false));
    }

    @Test
    void shouldRejectAStructThatContradictsThePublicCalls() {
        rpmaCq.set(ValueLayout.JAVA_LONG, 16, cq.address());
        assertEquals(0, RpmaCq.ibvCq(rpmaCq.address(), FD + 1, true));
        cq.set(ValueLayout.JAVA_LONG, 8, context.address());
        assertEquals(0, RpmaCq.ibvCq(rpmaCq.address(), FD, true));
    }
}
