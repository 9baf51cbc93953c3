package io.ringpoll.internal.rc;

/** Registered memory of the other side: the target of writes and the source of reads. Any thread may use it. */
public abstract class RcRemoteMemory extends RcResource {
    RcRemoteMemory() {
    }

    /**
     * How long the region is.
     *
     * @return bytes
     */
    public abstract long lengthBytes();

    /**
     * Whether this is closed.
     *
     * @return false until then
     */
    public abstract boolean isClosed();
}
