package io.ringpoll.internal.transport;

import java.io.IOException;

/**
 * The ordered delivery of one peer's messages: they are delivered in the order in which the peer has sent them, one at a time,
 * for all lengths. Those behind a long message that is still being read wait in the {@link ReorderBuffer}. Credits of
 * messages return when they leave it, and those of requests when the engine has taken them. Urgent messages do not wait: they
 * overtake all others.
 *
 * <p>Guarded by the lock of the link, which is not held while a message is delivered.
 */
final class InboundDelivery {
    private final Link link;
    private final Rendezvous rendezvous;
    private final Credits credits;
    private final Credits urgentCredits;
    private final Intake intake;
    private final ReorderBuffer<Incoming> messages;

    /** Creates the delivery for a link that has its rendezvous. */
    InboundDelivery(final Link link, final Node node, final Credits credits, final Credits urgentCredits) {
        this.link = link;
        this.credits = credits;
        this.urgentCredits = urgentCredits;
        rendezvous = link.rendezvous();
        intake = new Intake(node.admission(), node.config().bounds());
        messages = new ReorderBuffer<>(node.config().credits());
    }

    /**
     * Processes a received frame.
     *
     * @return true if its message waits for its delivery; false if the calling thread must deliver it, if it has one
     */
    boolean hold(final Incoming frame) throws IOException {
        final FrameHeader header = frame.header();
        final boolean isRequest = header.kind() == FrameKind.REQUEST;
        final boolean waits =
            frame.advertisement() != null || frame.message() != null && !header.isUrgent() && !messages.isIdle();
        if (header.isUrgent()) {
            count(urgentCredits, header, isRequest && !intake.admitsUrgent());
            if (isRequest && !MessageType.of(header.type()).isUrgent(frame.message())) {
                throw new ProtocolException("an urgent request " + MessageType.of(header.type()));
            }
        } else {
            // The credit of a request returns when the engine has taken it.
            count(credits, header, waits || isRequest);
        }
        if (waits) {
            final ReorderBuffer.Place<Incoming> place = messages.reserve();
            if (frame.advertisement() != null) {
                rendezvous.fetch(frame, place);
            } else {
                place.fill(frame);
            }
        }
        return waits;
    }

    /**
     * Counts the credits of a received frame; its receive has been posted again.
     *
     * @param waits whether its message waits for delivery: its credit is owed later, which bounds the messages that wait
     */
    private static void count(final Credits credits, final FrameHeader header, final boolean waits) throws ProtocolException {
        if (!FrameKind.isFree(header.kind())) {
            if (!credits.spendPeers()) {
                throw new ProtocolException("a frame without credit");
            }
            credits.owe(waits ? 0 : 1);
        }
        if (!credits.add(header.credits())) {
            throw new ProtocolException(credits.own() + " credits, of " + credits.most() + " in all");
        }
    }

    /** Fills the place of a long message; returns the first message for the calling thread to deliver, or null. */
    Incoming claim(final ReorderBuffer.Place<Incoming> place, final Incoming message) throws IOException {
        place.fill(message);
        return taken(messages.claim());
    }

    /** The next message for the thread that has claimed the delivery; null ends its claim. */
    Incoming next() throws IOException {
        return taken(messages.next());
    }

    /** Returns the credit of a message that leaves the buffer, and reads another one if it was long; null is permitted. */
    private Incoming taken(final Incoming message) throws IOException {
        if (message == null) {
            return null;
        }
        boolean isTaken = false;
        try {
            if (message.header().kind() != FrameKind.REQUEST) {
                credits.owe(1);
            }
            if (message.header().isRendezvous()) {
                rendezvous.onDelivery();
            }
            link.postWaiting();
            isTaken = true;
            return message;
        } finally {
            if (!isTaken) {
                // It has left the buffer, whose clear at the end of the connection does not find it.
                message.discard();
            }
        }
    }

    /** Counts a request that is delivered. */
    Intake.Ticket begin(final FrameHeader header, final PeerRole role) {
        return intake.begin(header.messageLength(), header.isUrgent(), role);
    }

    /** Adds the time since the previous tick; returns true if the peer does not take a reply in time. */
    boolean hasOverdueReply(final long nowNs) {
        return intake.isOverdue(nowNs);
    }

    /** Called when the engine has taken a request. */
    void onTaken() {
        intake.onTaken();
    }

    /** Whether there is room for a message of the peer: requests wait for it, replies do not. */
    boolean admits(final FrameHeader header, final PeerRole role) {
        return header.kind() != FrameKind.REQUEST || intake.admits(role);
    }

    /** Owes the credits of requests that the engine has taken, and reads the messages for which there is room now. */
    void releaseCredits(final PeerRole role) throws IOException {
        credits.owe(intake.release(role));
        urgentCredits.owe(intake.releaseUrgent());
        rendezvous.startNext();
    }

    /** Drops the waiting messages at the end of the connection. */
    void clear() {
        messages.clear().forEach(Incoming::discard);
    }
}
