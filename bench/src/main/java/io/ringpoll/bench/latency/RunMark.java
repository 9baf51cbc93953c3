package io.ringpoll.bench.latency;

/** Reasons for doubt about the figures of a run. */
enum RunMark {
    /** Fewer completions were handled than were due: the histogram lacks the latencies of the others. */
    MISSED_RATE("missed its rate"),
    /** The scheduler or the hypervisor took the CPU from a hot thread. */
    LOST_CPU("lost its CPU"),
    /** A hot thread could run on any CPU. */
    NOT_PINNED("not pinned"),
    /** Hot threads had to share a CPU. */
    SHARED_CPU("threads shared a CPU"),
    /** A turn had a fault. */
    FAULTY("went wrong");

    private final String text;

    RunMark(final String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
