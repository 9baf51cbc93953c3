/** The duty cycle: claims slots, polls completion queues into them, publishes. */
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module io.ringpoll.poller {
    requires jdk.jfr;
    requires transitive io.ringpoll.rpma;
    requires transitive org.agrona;

    exports io.ringpoll.poller;
    exports io.ringpoll.internal.poller to io.ringpoll.pipeline, io.ringpoll.connections;
}
