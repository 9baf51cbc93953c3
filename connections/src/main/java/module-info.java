/** Connections for messages, with their life cycle, buffers and credits. */
@SuppressWarnings("module")
module io.ringpoll.connections {
    requires transitive io.ringpoll.pipeline;

    exports io.ringpoll.connections;
    exports io.ringpoll.internal.connections to io.ringpoll.ratis;
}
