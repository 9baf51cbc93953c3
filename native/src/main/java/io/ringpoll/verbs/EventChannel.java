package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.os.Errno;

/** Creates and reads {@code struct rdma_event_channel}s: each id and each listener has its own. Stateless. */
final class EventChannel {
    private EventChannel() {
    }

    /** Creates a non-blocking channel and returns its address. */
    static long create() {
        final long channel = ConnectionFunctions.rdma_create_event_channel();
        if (channel == 0) {
            throw new VerbsException("rdma_create_event_channel", CallState.current().errno());
        }
        try {
            FileDescriptors.setNonBlocking(fd(channel));
            return channel;
        } catch (final RuntimeException | Error failure) {
            ConnectionFunctions.rdma_destroy_event_channel(channel);
            throw failure;
        }
    }

    static int fd(final long channel) {
        return Memory.intAt(channel + RdmaCm.CHANNEL_FD_OFFSET);
    }

    /** Creates an id on a channel and returns its address; destroys the channel if that fails. */
    static long createId(final long channel) {
        final CallState state = CallState.current();
        if (ConnectionFunctions.rdma_create_id(channel, state.scratch(), 0, RdmaCm.PORT_SPACE_TCP) != 0) {
            final VerbsException failure = new VerbsException("rdma_create_id", state.errno());
            ConnectionFunctions.rdma_destroy_event_channel(channel);
            throw failure;
        }
        return state.longAt(0);
    }

    /** Destroys an id and its channel. */
    static void destroy(final long id, final long channel) {
        final int result = ConnectionFunctions.rdma_destroy_id(id);
        final int errno = result == 0 ? 0 : CallState.current().errno();
        ConnectionFunctions.rdma_destroy_event_channel(channel);
        if (result != 0) {
            throw new VerbsException("rdma_destroy_id", errno);
        }
    }

    /** Takes an event, to be acknowledged; 0 if there is none. */
    static long take(final long channel) {
        final CallState state = CallState.current();
        if (ConnectionFunctions.rdma_get_cm_event(channel, state.scratch()) == 0) {
            return state.longAt(0);
        }
        if (state.errno() != Errno.EAGAIN) {
            throw new VerbsException("rdma_get_cm_event", state.errno());
        }
        return 0;
    }

    /** Throws if a call that returns -1 and sets errno has failed. */
    static void check(final String function, final int result, final String remedy) {
        if (result != 0) {
            throw new VerbsException(function, CallState.current().errno(), remedy);
        }
    }
}
