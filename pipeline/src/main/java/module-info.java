/** The completion ring, the three paths, the handlers' threads and the builder. */
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module io.ringpoll.pipeline {
    requires java.management;
    requires jdk.jfr;
    requires transitive com.lmax.disruptor;
    requires transitive io.ringpoll.poller;
    requires transitive org.agrona;

    exports io.ringpoll.counters;
    exports io.ringpoll.pipeline;
    exports io.ringpoll.internal.pipeline to io.ringpoll.connections, io.ringpoll.ratis;
}
