package io.ringpoll.bench.processes;

/** The contestants: ping-pong with messages of 64 bytes, and transfers of 1 MiB. */
enum ProcessesSubject {
    /** Sends over the loopback device, with librpma in C. */
    C("c", true),
    /** Sends over the loopback device, with a pipeline that runs to completion at each end. */
    RINGPOLL("ringpoll", true),
    /** Two cache lines of shared memory, in C. */
    SHARED_MEMORY("shared-memory", true),
    /** Aeron IPC. */
    AERON_IPC("aeron-ipc", true),
    /** TCP over the loopback interface, in C. */
    TCP("tcp", true),
    /** RDMA writes over the loopback device, several in flight. */
    WRITES("writes", false),
    /** Copies of the same size within the memory of the client. */
    MEMCPY("memcpy", false);

    private final String label;
    private final boolean isPingPong;

    ProcessesSubject(final String label, final boolean isPingPong) {
        this.label = label;
        this.isPingPong = isPingPong;
    }

    /** Its label in results. */
    String label() {
        return label;
    }

    /** Whether its figures are percentiles of half round trips; else the time of a transfer. */
    boolean isPingPong() {
        return isPingPong;
    }
}
