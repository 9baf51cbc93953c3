package io.ringpoll.internal.transport;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.ratis.proto.RaftProtos.ThrowableProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/**
 * Encodes exceptions as messages: the classes and texts of the chain of causes, without stack traces. Nothing is deserialised. A
 * class that is unknown here, or has no constructor for a text, becomes an {@link IOException} with the class name in its text.
 */
final class Failures {
    static final Parser<ThrowableProto> PARSER = ThrowableProto.parser();

    private static final int MAX_CAUSES = 8;
    private static final int MAX_TEXT = 1_000;

    private Failures() {
    }

    static ThrowableProto toProto(final Throwable failure) {
        return encode(unwrap(failure), MAX_CAUSES);
    }

    /**
     * Encodes an exception in a limited length.
     *
     * @param failure  the exception
     * @param maxBytes maximum length of the message; the causes, then the end of the text and the class are left out if necessary
     */
    static ThrowableProto toProto(final Throwable failure, final int maxBytes) {
        final Throwable inner = unwrap(failure);
        ThrowableProto proto = encode(inner, MAX_CAUSES);
        for (int causes = MAX_CAUSES - 1; causes >= 0 && proto.getSerializedSize() > maxBytes; causes--) {
            proto = encode(inner, causes);
        }
        for (int text = proto.getErrorMessage().length(); text > 0 && proto.getSerializedSize() > maxBytes; text /= 2) {
            proto = proto.toBuilder().setErrorMessage(proto.getErrorMessage().substring(0, text / 2)).build();
        }
        return proto.getSerializedSize() <= maxBytes ? proto :
            ThrowableProto.newBuilder().setClassName(IOException.class.getName()).build();
    }

    /** Removes the wrappers of executors. */
    static Throwable unwrap(final Throwable failure) {
        Throwable inner = failure;
        while ((inner instanceof CompletionException || inner instanceof ExecutionException) && inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner;
    }

    private static ThrowableProto encode(final Throwable failure, final int causesLeft) {
        final ThrowableProto.Builder builder = ThrowableProto.newBuilder().setClassName(failure.getClass().getName());
        final String text = failure.getMessage();
        if (text != null) {
            builder.setErrorMessage(text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "..." : text);
        }
        final Throwable cause = failure.getCause();
        if (cause != null && cause != failure && causesLeft > 0) {
            builder.setCause(encode(cause, causesLeft - 1).toByteString());
        }
        return builder.build();
    }

    /** Decodes the exception of a peer's reply. */
    static IOException toException(final ThrowableProto proto, final String peer) {
        try {
            final Throwable failure = instantiate(proto, MAX_CAUSES);
            // An interrupt concerned the peer's thread; the engine would apply an InterruptedIOException to this one.
            return failure instanceof final IOException io && !(failure instanceof InterruptedIOException) ? io :
                new IOException(peer + " has failed: " + failure, failure);
        } catch (final RuntimeException e) {
            // The peer chooses the classes, and a method of one throws: the request ends nevertheless.
            return unknown(proto);
        }
    }

    private static IOException unknown(final ThrowableProto proto) {
        return new IOException(proto.getClassName() + ": " + proto.getErrorMessage());
    }

    private static Throwable instantiate(final ThrowableProto proto, final int causesLeft) {
        final String text = proto.getErrorMessage();
        Throwable failure;
        try {
            // Not initialised before it is known to be an exception: the peer chooses the name.
            final Class<? extends Throwable> type =
                Class.forName(proto.getClassName(), false, Failures.class.getClassLoader()).asSubclass(Throwable.class);
            failure = type.getConstructor(String.class).newInstance(text);
        } catch (final ReflectiveOperationException | ClassCastException | LinkageError e) {
            failure = unknown(proto);
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
