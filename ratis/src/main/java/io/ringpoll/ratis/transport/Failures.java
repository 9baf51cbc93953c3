package io.ringpoll.ratis.transport;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.ratis.proto.RaftProtos.ThrowableProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/**
 * Exceptions as messages: classes and texts of the chain of causes, without stack traces. Nothing is deserialised: a class that
 * this side does not know, or that cannot be made of a text, becomes an {@link IOException} with its name in the text.
 */
final class Failures {
    static final Parser<ThrowableProto> PARSER = ThrowableProto.parser();

    private static final int MAX_CAUSES = 8;
    private static final int MAX_TEXT = 1_000;

    private Failures() {
    }

    static ThrowableProto toProto(final Throwable failure) {
        return toProto(unwrap(failure), MAX_CAUSES);
    }

    /** What the executors' wrappers hold. */
    static Throwable unwrap(final Throwable failure) {
        Throwable inner = failure;
        while ((inner instanceof CompletionException || inner instanceof ExecutionException) && inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner;
    }

    private static ThrowableProto toProto(final Throwable failure, final int causesLeft) {
        final ThrowableProto.Builder builder = ThrowableProto.newBuilder().setClassName(failure.getClass().getName());
        final String text = failure.getMessage();
        if (text != null) {
            builder.setErrorMessage(text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "..." : text);
        }
        final Throwable cause = failure.getCause();
        if (cause != null && cause != failure && causesLeft > 0) {
            builder.setCause(toProto(cause, causesLeft - 1).toByteString());
        }
        return builder.build();
    }

    /** The exception that a peer has answered with. */
    static IOException toException(final ThrowableProto proto, final String peer) {
        final Throwable failure = instantiate(proto, MAX_CAUSES);
        // An interruption was the peer's: to the engine the exception would be one of this thread.
        return failure instanceof final IOException io && !(failure instanceof InterruptedIOException) ? io :
            new IOException(peer + " has failed: " + failure, failure);
    }

    private static Throwable instantiate(final ThrowableProto proto, final int causesLeft) {
        final String text = proto.getErrorMessage();
        Throwable failure;
        try {
            // Not initialised before it is known to be an exception: the name is the peer's choice.
            final Class<? extends Throwable> type =
                Class.forName(proto.getClassName(), false, Failures.class.getClassLoader()).asSubclass(Throwable.class);
            failure = type.getConstructor(String.class).newInstance(text);
        } catch (final ReflectiveOperationException | ClassCastException | LinkageError e) {
            failure = new IOException(proto.getClassName() + ": " + text);
        }
        if (!proto.getCause().isEmpty() && causesLeft > 0 && failure.getCause() == null) {
            try {
                failure.initCause(instantiate(PARSER.parseFrom(proto.getCause()), causesLeft - 1));
            } catch (final InvalidProtocolBufferException | IllegalStateException e) {
                failure.addSuppressed(e);
            }
        }
        return failure;
    }
}
