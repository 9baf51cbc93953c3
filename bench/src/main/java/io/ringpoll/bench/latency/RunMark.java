package io.ringpoll.bench.latency;

/** What makes a run's figures doubtful. */
enum RunMark {
    /** Fewer completions were handled than were due: what is not handled has no latency in the histogram yet. */
    MISSED_RATE("missed its rate"),
    /** The scheduler or the hypervisor took the CPU away from a hot thread. */
    LOST_CPU("lost its CPU"),
    /** A hot thread could run on any CPU. */
    NOT_PINNED("not pinned"),
    /** Hot threads had to share a CPU. */
    SHARED_CPU("threads shared a CPU"),
    /** Something went wrong in a turn. */
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
