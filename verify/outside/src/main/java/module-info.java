/** A program on the module path, so that native access can be given to one module by its name. */
module outside {
    requires io.ringpoll.pipeline;
    requires io.ringpoll.poller;
    requires io.ringpoll.rpma;
}
