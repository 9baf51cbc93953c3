package io.ringpoll.ratis;

/** The names of the transport's injection points, for suites of the engine. */
public final class InjectionPoints {
    /** Called before a server sends a request. */
    public static final String SEND_SERVER_REQUEST = RdmaServerRpc.SEND_SERVER_REQUEST;

    private InjectionPoints() {
    }
}
