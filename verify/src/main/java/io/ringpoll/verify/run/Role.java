package io.ringpoll.verify.run;

/** Which sides of the main job a process is. */
public enum Role {
    /** Server and client. */
    BOTH,
    /** The server, which ends when its last client has gone. */
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
