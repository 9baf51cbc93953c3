package io.ringpoll.verify.run;

import io.ringpoll.verbs.CompletionPath;

/** What a work request of the workload is. */
enum OperationKind {
    /** An RDMA WRITE into a cell of the server's region. */
    WRITE(CompletionPath.SEND_WRITE, "write"),
    /** A SEND that consumes a receive of the server. */
    SEND(CompletionPath.SEND_WRITE, "send"),
    /** An RDMA READ that brings a cell of the server's region back and verifies it. */
    READ(CompletionPath.SEND_WRITE, "read"),
    /** An RDMA WRITE with immediate data, which consumes a receive of the server and is verified there. */
    WRITE_WITH_IMMEDIATE(CompletionPath.SEND_WRITE, "write-imm"),
    /** An RDMA READ of the server's count of consumed receives. */
    CREDIT_READ(CompletionPath.SEND_WRITE, null),
    /** The client's last RDMA WRITE: how many messages it has sent. */
    GOODBYE(CompletionPath.SEND_WRITE, null),
    /** A receive; it ends on the receive path if a message comes, else on the error path when the connection ends. */
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

    /** Its name in a mix; null for what is not chosen by a mix. */
    String label() {
        return label;
    }
}
