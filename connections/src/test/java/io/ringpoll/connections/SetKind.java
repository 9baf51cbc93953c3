package io.ringpoll.connections;

import io.ringpoll.internal.rc.RdmaApi;

/** How the connections of a set get their completions. */
enum SetKind {
    RPMA,
    VERBS,
    /** Over verbs, with one completion queue for all connections. */
    SHARED_QUEUE;

    RdmaApi api() {
        return this == RPMA ? RdmaApi.RPMA : RdmaApi.VERBS;
    }

    ConnectionSetBuilder describe(final ConnectionSetBuilder builder) {
        return switch (this) {
            case RPMA -> builder;
            case VERBS -> builder.overVerbs();
            // Soft-RoCE has completion queues of at most 32,767 entries.
            case SHARED_QUEUE -> builder.overVerbs().sharedCompletionQueue().maxConnections(64);
        };
    }
}
