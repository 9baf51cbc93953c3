/**
 * librpma and verbs in Java.
 *
 * <p>The device is the machine's own, or that of a {@link io.ringpoll.device.DeviceProvider} in another module, such as
 * {@code io.ringpoll.loopback}.
 */
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module io.ringpoll.rpma {
    requires java.management;
    requires jdk.management;
    requires transitive org.agrona;

    exports io.ringpoll.completion;
    exports io.ringpoll.device;
    exports io.ringpoll.os;
    exports io.ringpoll.rpma;
    exports io.ringpoll.verbs;
    exports io.ringpoll.internal.access to io.ringpoll.loopback;
    exports io.ringpoll.internal.binding to io.ringpoll.loopback;
    exports io.ringpoll.internal.device to io.ringpoll.loopback;
    exports io.ringpoll.internal.ffm to io.ringpoll.loopback, io.ringpoll.pipeline, io.ringpoll.ratis;
    exports io.ringpoll.internal.lifecycle to io.ringpoll.loopback;
    exports io.ringpoll.internal.os to io.ringpoll.loopback, io.ringpoll.poller, io.ringpoll.pipeline, io.ringpoll.connections;
    exports io.ringpoll.internal.rc to io.ringpoll.loopback, io.ringpoll.pipeline, io.ringpoll.connections, io.ringpoll.ratis;
    exports io.ringpoll.internal.verbs
        to io.ringpoll.loopback, io.ringpoll.poller, io.ringpoll.pipeline, io.ringpoll.connections;

    uses io.ringpoll.device.DeviceProvider;
}
