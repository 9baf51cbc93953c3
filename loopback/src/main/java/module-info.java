/** The loopback device in user space, with fault plans and synthetic queues. */
module io.ringpoll.loopback {
    requires transitive io.ringpoll.rpma;

    exports io.ringpoll.fault;
    exports io.ringpoll.synthetic;

    provides io.ringpoll.device.DeviceProvider with io.ringpoll.loopback.LoopbackDevice;
}
