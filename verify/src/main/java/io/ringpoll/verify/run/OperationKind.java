package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;

/** The kinds of work requests of the workload. */
enum OperationKind {
    /** An RDMA WRITE into a cell of the server's region. */
    WRITE(CompletionPath.SEND_WRITE, "write"),
    /** A SEND that consumes a receive of the server. */
    SEND(CompletionPath.SEND_WRITE, "send"),
    /** An RDMA READ of a cell of the server region, which is verified. */
    READ(CompletionPath.SEND_WRITE, "read"),
    /** An RDMA WRITE with immediate data, which consumes a receive of the server and is verified there. */
    WRITE_WITH_IMMEDIATE(CompletionPath.SEND_WRITE, "write-imm"),
    /** An RDMA READ of the server's count of consumed receives. */
    CREDIT_READ(CompletionPath.SEND_WRITE, null),
    /** The client's last RDMA WRITE: how many messages it has sent. */
    GOODBYE(CompletionPath.SEND_WRITE, null),
    /** A receive; completes on the receive path with a message, else on the error path when the connection ends. */
    RECEIVE(CompletionPath.RECEIVE, null),
    /** A work request that must fail: refused by the peer, or flushed. */
    FAILING(CompletionPath.ERROR, "fail");

    private final CompletionPath path;
    private final String label;

    OperationKind(final CompletionPath path, final String label) {
        this.path = path;
        this.label = label;
    }

    /** The path that its completion must take. */
    CompletionPath path() {
        return path;
    }

    /** Its name in a mix; null for an operation that is not part of mixes. */
    String label() {
        return label;
    }
}
