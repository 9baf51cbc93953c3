package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.ThrowableProto;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FailuresTest {
    @Test
    void shouldPreserveClassesAndTextsOfTheChain() {
        final IOException sent = new GroupMismatchException("no such group");
        sent.initCause(new IllegalStateException("inner"));
        final IOException received =
            Failures.toException(Failures.toProto(new CompletionException(new CompletionException(sent))), "s1");
        assertInstanceOf(GroupMismatchException.class, received);
        assertEquals("no such group", received.getMessage());
        assertInstanceOf(IllegalStateException.class, received.getCause());
        assertEquals("inner", received.getCause().getMessage());
    }

    @Test
    void shouldWrapOtherExceptions() {
        final IOException received = Failures.toException(Failures.toProto(new ArithmeticException("by zero")), "s1");
        assertInstanceOf(ArithmeticException.class, received.getCause());
        assertTrue(received.getMessage().startsWith("s1 "), received.getMessage());
    }

    @Test
    void shouldNotPropagateAnInterruptOfThePeer() {
        final IOException received = Failures.toException(Failures.toProto(new InterruptedIOException("closing")), "s1");
        assertEquals(IOException.class, received.getClass());
        assertInstanceOf(InterruptedIOException.class, received.getCause());
    }

    @Test
    void shouldTruncateLongTextsOnly() {
        final String longest = "x".repeat(1_000);
        assertEquals(longest, Failures.toProto(new IOException(longest)).getErrorMessage());
        assertEquals(longest + "...", Failures.toProto(new IOException(longest + "y")).getErrorMessage());
        assertEquals("", Failures.toProto(new IOException()).getErrorMessage());
    }

    @Test
    void shouldSendAndAcceptAtMostEightCauses() throws Exception {
        IOException failure = new IOException("cause 20");
        for (int i = 19; i >= 0; i--) {
            failure = new IOException("cause " + i, failure);
        }
        final ThrowableProto sent = Failures.toProto(failure);
        assertEquals(8, causes(sent));
        assertEquals(8, causes(Failures.toException(sent, "s1")));
        // A peer that sends a longer chain.
        ThrowableProto deep = sent;
        for (int i = 0; i < 100; i++) {
            deep = ThrowableProto.newBuilder().setClassName(IOException.class.getName()).setErrorMessage("deep")
                .setCause(deep.toByteString()).build();
        }
        assertEquals(8, causes(Failures.toException(deep, "s1")));
    }

    /** The frame of a failure has a limited length. */
    @Test
    void shouldFitAFailureIntoALengthByItsCausesFirst() throws Exception {
        final IOException chain = new GroupMismatchException("a".repeat(100));
        chain.initCause(new IOException("b".repeat(100), new IOException("c")));
        final ThrowableProto full = Failures.toProto(chain);
        assertEquals(full, Failures.toProto(chain, full.getSerializedSize()));
        final ThrowableProto oneCause = Failures.toProto(chain, full.getSerializedSize() - 1);
        assertEquals(1, causes(oneCause));
        assertEquals("b".repeat(100), ThrowableProto.parseFrom(oneCause.getCause()).getErrorMessage());
        final ThrowableProto noCause = Failures.toProto(chain, oneCause.getSerializedSize() - 1);
        assertEquals(0, causes(noCause));
        assertEquals(full.getErrorMessage(), noCause.getErrorMessage());
        assertEquals(noCause, Failures.toProto(chain, noCause.getSerializedSize()));
        final ThrowableProto halfText = Failures.toProto(chain, noCause.getSerializedSize() - 1);
        assertEquals("a".repeat(50), halfText.getErrorMessage());
        assertEquals(GroupMismatchException.class.getName(), halfText.getClassName());
        final ThrowableProto nothing = Failures.toProto(chain, 1);
        assertEquals(IOException.class.getName(), nothing.getClassName());
        assertEquals("", nothing.getErrorMessage());
    }

    private static int causes(final ThrowableProto failure) throws InvalidProtocolBufferException {
        return failure.getCause().isEmpty() ? 0 : 1 + causes(ThrowableProto.parseFrom(failure.getCause()));
    }

    private static int causes(final Throwable failure) {
        return failure.getCause() == null ? 0 : 1 + causes(failure.getCause());
    }

    @Test
    void shouldKeepAFailureWithAnInvalidCause() {
        final IOException received = Failures.toException(ThrowableProto.newBuilder().setClassName(IOException.class.getName())
            .setErrorMessage("text").setCause(ByteString.copyFrom(new byte[] {-1, -1})).build(), "s1");
        assertEquals("text", received.getMessage());
        assertEquals(1, received.getSuppressed().length);
    }

    /** Otherwise the request of the reply would have no end. */
    @Test
    void shouldNameAnExceptionWhoseMethodsThrow() {
        final IOException received = Failures.toException(ThrowableProto.newBuilder()
            .setClassName(StubbornException.class.getName()).setErrorMessage("text")
            .setCause(Failures.toProto(new IOException("inner")).toByteString()).build(), "s1");
        assertEquals(IOException.class, received.getClass());
        assertTrue(received.getMessage().contains(StubbornException.class.getName()), received.getMessage());
    }

    @Test
    void shouldUnwrapExceptionsOfExecutors() {
        final IOException inner = new IOException("inner");
        assertSame(inner, Failures.unwrap(new CompletionException(new ExecutionException(inner))));
        final ExecutionException empty = new ExecutionException("nothing in it", null);
        assertSame(empty, Failures.unwrap(new CompletionException(empty)));
        assertSame(inner, Failures.unwrap(inner));
    }

    @Test
    void shouldNameAnUnknownExceptionClass() {
        assertNamed("no.such.Exception");
        // A known class that is not an exception; it must not be initialised either.
        assertNamed(Trap.class.getName());
        assertTrue(!Trap.sprung, "the class was initialised");
    }

    private static void assertNamed(final String className) {
        final IOException received =
            Failures.toException(ThrowableProto.newBuilder().setClassName(className).setErrorMessage("text").build(), "s1");
        assertEquals(IOException.class, received.getClass());
        assertTrue(received.getMessage().contains(className) && received.getMessage().contains("text"), received.getMessage());
    }

    /** Set by {@link TrapSpring}. */
    static final class Trap {
        static volatile boolean sprung = TrapSpring.released();

        private Trap() {
        }
    }

    /** Queried if {@link Trap} were initialised by its name alone. */
    static final class TrapSpring {
        static boolean armed = true;

        private TrapSpring() {
        }

        static boolean released() {
            return armed && new Exception().getStackTrace()[3].getClassName().contains("Failures$");
        }
    }
}
