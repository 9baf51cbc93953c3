package io.ringpoll.bench.echo;

/** The traffic of a turn. */
enum EchoMode {
    /** All connections have their messages in flight. */
    THROUGHPUT,
    /** One message is in flight at all, on one connection after the other. */
    PING_PONG
}
