package io.ringpoll.internal.poller;

import java.util.ArrayList;
import java.util.List;

/** The calls that wait for a round in which all queues are empty. Belongs to the polling thread. */
final class EmptyRoundWaits {
    private final List<PollerCommand> commands = new ArrayList<>();
    private boolean pending;

    /** Adds a wait, and forgets those that have timed out. */
    void add(final PollerCommand empty) {
        commands.removeIf(PollerCommand::isAbandoned);
        commands.add(empty);
        pending = true;
    }

    int size() {
        return commands.size();
    }

    /** Ends the waits after a round in which all queues were empty. */
    void onEmptyRound(final SlotRing ring) {
        if (!pending) {
            return;
        }
        if (ring.isHalted()) {
            // A round without queues claims no slot and does not detect the halt.
            fail(PollerState.HALTED);
        } else {
            pending = false;
            commands.forEach(PollerCommand::complete);
            commands.clear();
        }
    }

    /** Fails the waits: the round cannot occur in this state. */
    void fail(final PollerState state) {
        if (pending) {
            pending = false;
            commands.forEach(waiting -> waiting.fail(state.predicate()));
            commands.clear();
        }
    }
}
