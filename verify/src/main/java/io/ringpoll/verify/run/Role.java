package io.ringpoll.verify.run;

/** The sides of the main job in a process. */
public enum Role {
    /** Server and client. */
    BOTH,
    /** The server, which ends after its last client. */
    SERVER,
    /** The client. */
    CLIENT;

    boolean isServer() {
        return this != CLIENT;
    }

    boolean isClient() {
        return this != SERVER;
    }
}
