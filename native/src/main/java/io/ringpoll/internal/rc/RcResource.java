package io.ringpoll.internal.rc;

/** An object of either binding, to be closed after those that were made from it. Closing twice does nothing. */
public abstract class RcResource implements AutoCloseable {
    RcResource() {
    }

    @Override
    public abstract void close();
}
