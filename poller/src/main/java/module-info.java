/** The duty cycle: claims slots, polls completion queues into them, publishes. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.ringpoll.poller {
    requires jdk.jfr;
    requires transitive io.ringpoll.rpma;
    requires transitive org.agrona;

    exports io.ringpoll.poller;
}
