package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionPath;
import java.util.Set;

/**
 * Which paths a handler is for, as a set that one load of status and opcode is tested against.
 */
final class PathFilter {
    private final int bits;

    PathFilter(final Set<CompletionPath> paths) {
        int mask = 0;
        for (final CompletionPath path : paths) {
            mask |= 1 << path.ordinal();
        }
        bits = mask;
    }

    boolean accepts(final long statusAndOpcode) {
        return (bits & CompletionPath.bit(statusAndOpcode)) != 0;
    }
}
