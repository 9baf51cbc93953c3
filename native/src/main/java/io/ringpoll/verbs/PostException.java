package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsException;

/**
 * Thrown if a device has refused a request for another reason than a full queue. The requests before it are posted.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
 */
public final class PostException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final int posted;

    PostException(final String function, final int errno, final int posted, final String remedy) {
        super(function, errno, remedy);
        this.posted = posted;
    }

    /**
     * The number of requests of the call that are posted: the next one was refused.
     *
     * @return 0 or more
     */
    public int posted() {
        return posted;
    }
}
