package io.ringpoll.bench.link;

/** What a server does with the messages of a client. */
public enum Purpose {
    /** Answers each by one of the same kind and length. */
    ANSWER,
    /** Posts their receives again, and reports that by a short message for each {@link RemoteLink#CREDIT} of them. */
    CONSUME
}
