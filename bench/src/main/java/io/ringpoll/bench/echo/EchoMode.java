package io.ringpoll.bench.echo;

import java.util.Locale;

/** The traffic of an echo turn: saturation, or one message at a time. */
enum EchoMode {
    /** All connections have their messages in flight. */
    THROUGHPUT,
    /** One message is in flight at all, on one connection after the other. */
    PING_PONG;

    /** Its label in results. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
