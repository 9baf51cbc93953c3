package io.ringpoll.internal.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of functions by their addresses: the first one, which is compiled in, and any other. */
@Timeout(30)
class PointerCallTest {
    private static final PointerCall CALL = new PointerCall(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle HANDLE = CALL.handle();

    @Test
    void shouldCallTheFunctionThatIsPassed() throws Throwable {
        final MemorySegment upper = function("toupper");
        final MemorySegment lower = function("tolower");
        final MemorySegment absolute = function("abs");
        for (int turn = 0; turn < 20 * CallTurn.PERIOD; turn++) {
            assertEquals('A', (int) HANDLE.invokeExact(turn, upper, (int) 'a'));
            assertEquals('a', (int) HANDLE.invokeExact(turn, lower, (int) 'A'));
            assertEquals(turn, (int) HANDLE.invokeExact(turn, absolute, -turn));
        }
    }

    @Test
    void shouldKnowAFunctionByItsAddress() {
        final MemorySegment upper = function("toupper");
        assertSame(upper, function("toupper"));
        assertNotEquals(upper, function("tolower"));
    }

    private static MemorySegment function(final String name) {
        return CALL.function(NativeLibrary.c().find(name).orElseThrow().address());
    }
}
