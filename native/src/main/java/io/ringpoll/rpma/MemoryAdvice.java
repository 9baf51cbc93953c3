package io.ringpoll.rpma;

/**
 * Advice for a piece of memory with on-demand paging ({@code enum ibv_advise_mr_advice}).
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_advise_mr.3.html">ibv_advise_mr(3)</a>
 */
public enum MemoryAdvice {
    /** It will be read: bring the pages in. */
    PREFETCH(0),
    /** It will be written: bring the pages in, writable. */
    PREFETCH_WRITE(1),
    /** It will be read: bring in the pages that need no fault. */
    PREFETCH_NO_FAULT(2);

    private final int value;

    MemoryAdvice(final int value) {
        this.value = value;
    }

    /**
     * The value of the C constant.
     *
     * @return of {@code enum ibv_advise_mr_advice}
     */
    public int value() {
        return value;
    }
}
