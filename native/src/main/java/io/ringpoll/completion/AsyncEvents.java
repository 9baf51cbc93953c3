package io.ringpoll.completion;

import static io.ringpoll.completion.FfmVerbsFunctions.VERBS;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.internal.os.Wakeup;
import io.ringpoll.os.Errno;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Reads a device's asynchronous events: overrun completion queues, failed queue pairs, a failed device. librpma has no call for
 * them, so this is the only way to receive them.
 *
 * <p>Each device has one reader, a daemon thread that runs while there are listeners: an event can be read only once. It
 * acknowledges each event and then passes it to every listener, one after the other; a listener may close the element of the
 * event.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
 */
public final class AsyncEvents {
    private static final System.Logger LOGGER = System.getLogger(AsyncEvents.class.getName());
    private static final Map<VerbsContext, AsyncEvents> READERS = new HashMap<>();
    static final int EVENT_TYPE_OFFSET = 8;

    private final VerbsContext context;
    private final List<Consumer<AsyncEvent>> listeners = new CopyOnWriteArrayList<>();
    /** Changed under the lock of {@link #READERS}, by the reader's thread. */
    private Wakeup wakeup = Wakeup.take();

    private AsyncEvents(final VerbsContext context) {
        this.context = context;
    }

    /**
     * Listens to a device's asynchronous events. Thread-safe.
     *
     * @param context  the device
     * @param listener gets every event from now on, on the reader's thread; its exceptions are logged
     * @return ends listening when it is closed; does not wait for a listener that is running
     * @throws IllegalArgumentException if the device is a synthetic one, which has no such events
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
     */
    public static Subscription listen(final VerbsContext context, final Consumer<AsyncEvent> listener) {
        Objects.requireNonNull(context, "the context is null");
        Objects.requireNonNull(listener, "the listener is null");
        if (!context.hasAsyncEvents()) {
            throw new IllegalArgumentException(context.name() + " has no asynchronous events");
        }
        synchronized (READERS) {
            AsyncEvents reader = READERS.get(context);
            if (reader == null) {
                FileDescriptors.setNonBlocking(context.asyncFd());
                reader = new AsyncEvents(context);
                reader.start();
                READERS.put(context, reader);
            }
            reader.listeners.add(listener);
            return new Subscription(reader, listener);
        }
    }

    private void start() {
        boolean started = false;
        try {
            final Thread thread = new Thread(this::run, "ringpoll-async-" + context.name());
            thread.setDaemon(true);
            thread.start();
            started = true;
        } finally {
            if (!started) {
                wakeup.release();
            }
        }
    }

    private void run() {
        try {
            while (isWanted() && readOne()) {
                // All events have been delivered.
            }
        } finally {
            synchronized (READERS) {
                READERS.remove(context, this);
                wakeup.release();
            }
        }
    }

    /** Waits for an event; false if there is no listener any more, or no event can arrive. */
    private boolean isWanted() {
        while (true) {
            final int outcome = wakeup.await(context.asyncFd(), -1);
            if (outcome == Wakeup.READABLE) {
                return true;
            }
            if (outcome == Wakeup.BROKEN) {
                LOGGER.log(System.Logger.Level.ERROR, "the asynchronous events of {0} can no longer be read: " +
                    "their descriptor is closed or in an error state", context.name());
                return false;
            }
            synchronized (READERS) {
                if (listeners.isEmpty()) {
                    READERS.remove(context, this);
                    return false;
                }
                // A listener was added after the last one was removed.
                final Wakeup next = Wakeup.take();
                wakeup.release();
                wakeup = next;
            }
        }
    }

    /** Reads and passes on an event; false if there will be none any more. */
    private boolean readOne() {
        final CallState state = CallState.current();
        final long event = state.scratch();
        if (VERBS.ibv_get_async_event(context.address(), event) != 0) {
            if (state.errno() == Errno.EAGAIN) {
                return true;
            }
            LOGGER.log(System.Logger.Level.ERROR, "the asynchronous events of {0} can no longer be read: {1}", context.name(),
                Errno.describe(state.errno()));
            return false;
        }
        final AsyncEvent read = of(AsyncEventType.of(state.intAt(EVENT_TYPE_OFFSET)), state.longAt(0));
        // Before the listeners: the element of the event cannot be destroyed until then, and a listener may do so.
        VERBS.ibv_ack_async_event(event);
        for (final Consumer<AsyncEvent> listener : listeners) {
            try {
                listener.accept(read);
            } catch (final RuntimeException | Error e) {
                // A failed listener must not end this thread: the other listeners would get no more events.
                LOGGER.log(System.Logger.Level.ERROR, "a listener failed on " + read.description(), e);
            }
        }
        return true;
    }

    private AsyncEvent of(final AsyncEventType type, final long element) {
        final AsyncEventElement kind = type.element();
        return new AsyncEvent(context.name(), type, kind == AsyncEventElement.COMPLETION_QUEUE ? element : 0,
            kind == AsyncEventElement.QUEUE_PAIR ? Memory.intAt(element + IbvCq.QP_NUM_OFFSET) : 0,
            kind == AsyncEventElement.PORT ? (int) element : 0);
    }

    private void remove(final Consumer<AsyncEvent> listener) {
        synchronized (READERS) {
            listeners.remove(listener);
            // A reader that has ended has released its wake-up.
            if (listeners.isEmpty() && READERS.get(context) == this) {
                wakeup.signal();
            }
        }
    }

    /** A listener's place; closing it ends listening. A second close does nothing. */
    public static final class Subscription implements AutoCloseable {
        private final AsyncEvents reader;
        private Consumer<AsyncEvent> listener;

        private Subscription(final AsyncEvents reader, final Consumer<AsyncEvent> listener) {
            this.reader = reader;
            this.listener = listener;
        }

        @Override
        public synchronized void close() {
            if (listener != null) {
                reader.remove(listener);
                listener = null;
            }
        }
    }
}
