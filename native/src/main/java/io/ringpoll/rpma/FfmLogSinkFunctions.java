package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link LogSinkFunctions} by downcalls. Only where libringpoll was built for this architecture. */
final class FfmLogSinkFunctions implements LogSinkFunctions {
    private static final NativeLibrary LIBRINGPOLL = Libraries.current().ringpoll().orElseThrow();
    private static final MethodHandle ringpoll_log_set_level$mh =
        LIBRINGPOLL.plain("ringpoll_log_set_level", FunctionDescriptor.ofVoid(JAVA_INT));
    private static final MethodHandle ringpoll_log_fd$mh =
        LIBRINGPOLL.plain("ringpoll_log_fd", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle ringpoll_log_arm$mh =
        LIBRINGPOLL.plain("ringpoll_log_arm", FunctionDescriptor.ofVoid());
    private static final MethodHandle ringpoll_log_next$mh =
        LIBRINGPOLL.plain("ringpoll_log_next", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ringpoll_log_lost$mh =
        LIBRINGPOLL.plain("ringpoll_log_lost", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle ringpoll_error_errno$mh =
        LIBRINGPOLL.plain("ringpoll_error_errno", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle ringpoll_error_text$mh =
        LIBRINGPOLL.plain("ringpoll_error_text", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle ringpoll_error_clear$mh =
        LIBRINGPOLL.plain("ringpoll_error_clear", FunctionDescriptor.ofVoid());

    @Override
    public void ringpoll_log_set_level(final int level) {
        try {
            ringpoll_log_set_level$mh.invokeExact(level);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ringpoll_log_fd() {
        try {
            return (int) ringpoll_log_fd$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public void ringpoll_log_arm() {
        try {
            ringpoll_log_arm$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ringpoll_log_next(final long record) {
        try {
            return (int) ringpoll_log_next$mh.invokeExact(record);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ringpoll_log_lost() {
        try {
            return (long) ringpoll_log_lost$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ringpoll_error_errno() {
        try {
            return (int) ringpoll_error_errno$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ringpoll_error_text() {
        try {
            return (long) ringpoll_error_text$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public void ringpoll_error_clear() {
        try {
            ringpoll_error_clear$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
