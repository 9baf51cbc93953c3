package io.ringpoll.internal.transport;

import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * The hello of this side of a connection, and the proofs that both sides have the same secret.
 * <pre>
 *   requesting node                               accepting node
 *   private data: challenge 1            -&gt;
 *                                        &lt;-       private data: challenge 2, proof for both challenges
 *   first frame: proof for both          -&gt;
 * </pre>
 *
 * <p>A proof is a keyed hash of both hellos and the side. The accepting node takes no other frame before it.
 */
final class Handshake {
    private static final String ACCEPTING = "ringpoll-ratis accepts";
    private static final String REQUESTING = "ringpoll-ratis requests";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Secret secret;
    private final Hello own;
    private final byte[] expected;

    private Handshake(final Secret secret, final Hello own, final byte[] expected) {
        this.secret = secret;
        this.own = own;
        this.expected = expected;
    }

    /** Starts as the requesting node. */
    static Handshake requesting(final NodeConfig config) {
        final Access access = config.access();
        final Secret secret = access.secretOf(access.role());
        final String name = access.id().length() > Hello.MAX_NAME_BYTES ? access.id().substring(0, Hello.MAX_NAME_BYTES) :
            access.id();
        return new Handshake(secret, hello(config, name, secret), null);
    }

    /**
     * Continues as the accepting node.
     *
     * @throws ProtocolException if this side has a secret and the peer has none
     */
    static Handshake accepting(final NodeConfig config, final Hello peer) throws ProtocolException {
        final Secret secret = config.access().secretOf(peer.role());
        final Hello hello = hello(config, "", secret);
        if (secret == null) {
            return new Handshake(null, hello, null);
        }
        if (peer.challenge() == null) {
            throw new ProtocolException("a hello without a challenge: the peer has no secret (raft.rdma.secret.file)");
        }
        return new Handshake(secret, hello.withProof(secret.proof(ACCEPTING, peer.bytes(), hello.bytes())),
            secret.proof(REQUESTING, peer.bytes(), hello.bytes()));
    }

    private static Hello hello(final NodeConfig config, final String name, final Secret secret) {
        byte[] challenge = null;
        if (secret != null) {
            challenge = new byte[Hello.CHALLENGE_BYTES];
            RANDOM.nextBytes(challenge);
        }
        return new Hello(config.credits(), config.bufferBytes(), config.maxMessageBytes(), config.access().role(), name,
            challenge, null);
    }

    /** The private data of this side. */
    Hello hello() {
        return own;
    }

    /** The proof without which the requesting peer is not served; null if none is needed. */
    byte[] expected() {
        return expected;
    }

    /**
     * Checks the accepting peer's proof.
     *
     * @return the proof to send in return; null without a secret
     * @throws ProtocolException if the proof is wrong or missing
     */
    byte[] check(final Hello reply) throws ProtocolException {
        if (secret == null) {
            return null;
        }
        final byte[] unproven = reply.withProof(null).bytes();
        if (reply.challenge() == null || !isEqual(reply.proof(), secret.proof(ACCEPTING, own.bytes(), unproven))) {
            throw new ProtocolException("no valid proof of the secret (raft.rdma.secret.file)");
        }
        return secret.proof(REQUESTING, own.bytes(), unproven);
    }

    /** Compares in a time that does not depend on the content; a missing proof equals none. */
    static boolean isEqual(final byte[] proof, final byte[] valid) {
        return proof != null && MessageDigest.isEqual(proof, valid);
    }
}
