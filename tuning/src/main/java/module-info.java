/** Topology, affinity plan and machine doctor. */
module io.ringpoll.tuning {
    requires java.management;
    requires jdk.management;
    requires transitive io.ringpoll.pipeline;

    exports io.ringpoll.tuning;
}
