package io.ringpoll.internal.transport;

/** The role of a node, announced in its hello. */
public enum PeerRole {
    /** Sends the requests of clients and administrators. */
    CLIENT,
    /** Sends the requests of servers, too. */
    SERVER
}
