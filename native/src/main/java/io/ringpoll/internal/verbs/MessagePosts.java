package io.ringpoll.internal.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * The posts of a connection for a layer with memory of its own. The binding's class registers them, so that they are no public
 * methods of it. Thread-safe.
 *
 * <p>Such a post reads one Java object, where a post by the connection reads those of the connection, its calls, its completion
 * queue and the region: with many connections each is a cache miss.
 */
public final class MessagePosts {
    private static final Map<Class<?>, Posts> BY_CONNECTION = new ConcurrentHashMap<>();

    /** The posts of one class of connections. */
    private record Posts(BiFunction<Object, Object, MessageSends> sends, BiFunction<Object, Object, MessageReceives> receives) {
    }

    private MessagePosts() {
    }

    /**
     * Registers the class of connections, when it is initialized.
     *
     * @param sendsOf    creates the sends of a connection from a region
     * @param receivesOf creates the receives of a connection into a region
     * @param connection the class of connections
     * @param region     the class of regions
     * @param <C>        type of connections
     * @param <R>        type of regions
     */
    public static <C, R> void register(final Class<C> connection, final Class<R> region,
        final BiFunction<C, R, MessageSends> sendsOf, final BiFunction<C, R, MessageReceives> receivesOf) {
        BY_CONNECTION.put(connection, new Posts((from, memory) -> sendsOf.apply(connection.cast(from), region.cast(memory)),
            (from, memory) -> receivesOf.apply(connection.cast(from), region.cast(memory))));
    }

    /**
     * Creates the sends of a connection.
     *
     * @param connection of the binding, without a budget of its completion queue
     * @param region     of the messages
     * @return for one thread at a time
     */
    public static MessageSends sends(final Object connection, final Object region) {
        return BY_CONNECTION.get(connection.getClass()).sends.apply(connection, region);
    }

    /**
     * Creates the receives of a connection.
     *
     * @param connection of the binding, without a budget of its completion queue
     * @param region     of the messages
     * @return for one thread at a time
     */
    public static MessageReceives receives(final Object connection, final Object region) {
        return BY_CONNECTION.get(connection.getClass()).receives.apply(connection, region);
    }
}
