/** Connections for messages, with their life cycle, buffers and credits. */
module io.ringpoll.connections {
    requires transitive io.ringpoll.pipeline;

    exports io.ringpoll.connections;
}
