package io.ringpoll.rpma;

/** librpma's functions, by topic; static and final, so that a call through them is a call of the handle. */
final class Librpma {
    static final PeerFunctions PEER = new FfmPeerFunctions();
    static final MemoryFunctions MEMORY = new FfmMemoryFunctions();
    static final ConfigFunctions CONFIG = new FfmConfigFunctions();
    static final ConnectionFunctions CONNECTION = new FfmConnectionFunctions();
    static final PostingFunctions POSTING = new FfmPostingFunctions();
    static final CompletionFunctions COMPLETION = new FfmCompletionFunctions();
    static final LogFunctions LOG = new FfmLogFunctions();
    /** Several calls as one; null if there are none, and then each call is made from Java. */
    static final SeriesFunctions SERIES = SeriesFunctions.find();

    private Librpma() {
    }
}
