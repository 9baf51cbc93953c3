package io.ringpoll.rpma;

import io.ringpoll.completion.DeviceAttributes;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.IntFunction;

/** Finds out, after a device has refused queues, which of them are larger than the device's limits. */
final class QueueLimits {
    private QueueLimits() {
    }

    /** The remedy for queues of a connection; the configuration may be null, and must not be closed yet. */
    static IntFunction<String> remedy(final Peer peer, final ConnectionConfig config) {
        return errno -> config == null ? "" : of(peer).map(limits -> new Excess(limits.name())
            .check("cqSize", config.cqSize(), limits.maxCqe())
            .check("rcqSize", config.rcqSize(), limits.maxCqe())
            .check("sqSize", config.sqSize(), limits.maxQpWr())
            .check("rqSize", config.rqSize(), limits.maxQpWr())
            .text()).orElse("");
    }

    /** The remedy for a shared receive queue; the configuration may be null, and must not be closed yet. */
    static IntFunction<String> remedy(final Peer peer, final SharedReceiveQueueConfig config) {
        return errno -> config == null ? "" : of(peer).map(limits -> new Excess(limits.name())
            .check("rqSize", config.rqSize(), limits.maxSrqWr())
            .check("rcqSize", config.rcqSize(), limits.maxCqe())
            .text()).orElse("");
    }

    private static Optional<DeviceAttributes> of(final Peer peer) {
        return DeviceAttributes.of(peer.context());
    }

    /** The sizes above their limits, as a sentence. */
    private static final class Excess {
        private final String device;
        private final StringJoiner found = new StringJoiner("; ");

        Excess(final String device) {
            this.device = device;
        }

        Excess check(final String setting, final int asked, final int limit) {
            if (limit > 0 && asked > limit) {
                found.add(setting + " " + asked + " is above the limit of " + device + ": ask for at most " + limit);
            }
            return this;
        }

        String text() {
            return found.toString();
        }
    }
}
