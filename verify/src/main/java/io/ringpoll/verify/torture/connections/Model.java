package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.DisconnectReason;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;

/** Compares the two sides of each connection after the end of all sets; one thread. */
final class Model {
    private final World world;
    private final ConnectionShape shape;
    private final Violations violations;

    Model(final World world) {
        this.world = world;
        shape = world.shape();
        violations = world.violations();
    }

    /** Adds what is wrong to the violations of the scene. */
    void check() {
        for (final Side side : world.sides().values()) {
            violations.expect(side.reason() != null, side + ": no onDisconnected");
            if (side.reason() != null) {
                checkReason(side);
            }
            violations.expect(side.operations().underWay() == 0, side + ": operations without an end");
            violations.expect(side.connection().buffer().capacity() == 0, side + ": its memory has not been given back");
        }
        pairs().forEach(pair -> {
            checkMessages(pair.getFirst(), pair.getLast());
            checkMessages(pair.getLast(), pair.getFirst());
        });
    }

    /** The connections of which at least one side has received a message. */
    List<List<Side>> pairs() {
        return world.sides().values().stream().filter(side -> side.peer() > 0).map(side -> {
            final Side peer = world.sides().get(side.peer());
            violations.expect(peer.peer() == 0 || peer.peer() == side.number(), side + " receives from " + peer);
            violations.expect(peer.set() != side.set(), side + " receives from its own set");
            return peer.number() < side.number() ? List.of(peer, side) : List.of(side, peer);
        }).distinct().toList();
    }

    private void checkReason(final Side side) {
        switch (side.reason()) {
            case CLOSED -> violations.expect(side.isClosed(), side + ": nobody has closed it");
            case PROTOCOL_VIOLATION -> violations.expect(shape.mayReceiveTooLong(), side + ": its peer is correct");
            case FAILED -> violations.expect(shape.isHarmful() || side.set().isFailing(), side + ": nothing has failed");
            default -> {
                // By the peer, see below.
            }
        }
    }

    private void checkMessages(final Side receiver, final Side sender) {
        final long sent = sender.sent();
        final long received = receiver.received();
        violations.expect(received <= sent + sender.doubtful(), receiver + " has received more than was sent by " + sender);
        if (receiver.reason() == DisconnectReason.PEER_CLOSED) {
            violations.expect(sender.isClosed(), receiver + ": was not closed by " + sender);
            violations.expect(received >= sent || receiver.isRefusing(), receiver + " has not received all of " + sender);
        }
        if (receiver.reason() == DisconnectReason.PEER_LOST) {
            violations.expect(shape.isHarmful() || sender.set().isAbrupt(), receiver + ": has not lost " + sender);
        }
    }
}
