package io.ringpoll.fault;

/** Operations of a queue pair that a status fault counts and fails: {@code enum ringpoll_loopback_fault_operation}. */
public enum FaultOperation {
    /** All that is posted to the send queue. */
    ANY("any"),
    /** SEND, with immediate data or without. */
    SEND("send"),
    /** RDMA WRITE. */
    WRITE("write"),
    /** RDMA WRITE with immediate data. */
    WRITE_WITH_IMMEDIATE("write-imm"),
    /** RDMA READ, and librpma's flush, which is one. */
    READ("read"),
    /** Atomic operations, and librpma's atomic write where it is a native one. */
    ATOMIC("atomic"),
    /** An incoming message: its receive completes with the status, and its sender's request with REM_OP_ERR. */
    RECEIVE("recv");

    private final String label;

    FaultOperation(final String label) {
        this.label = label;
    }

    /**
     * As a plan's text has it.
     *
     * @return for instance {@code "write-imm"}
     */
    public String label() {
        return label;
    }
}
