package io.ringpoll.internal.transport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.ratis.thirdparty.com.google.common.io.ByteStreams;

/** A secret that nodes share. It is never sent: the nodes prove by challenge and response that they have it. Immutable. */
public final class Secret {
    /** Length of a proof. */
    static final int PROOF_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final int MIN_BYTES = 16;
    private static final int MAX_BYTES = 4096;
    private static final Set<PosixFilePermission> OWNER =
        Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private final SecretKeySpec key;

    private Secret(final byte[] key) {
        this.key = new SecretKeySpec(key, ALGORITHM);
    }

    /**
     * Reads a secret: the content of a file, all bytes.
     *
     * @param file of 16 to 4096 bytes, without rights for the group or others
     * @return the secret
     * @throws IOException if the file cannot be read, others may access it, or its length is out of range
     */
    public static Secret read(final Path file) throws IOException {
        try {
            return of(file);
        } catch (final NoSuchFileException e) {
            throw new IOException(file + " does not exist", e);
        } catch (final AccessDeniedException e) {
            throw new IOException(file + " cannot be read by this user", e);
        }
    }

    private static Secret of(final Path file) throws IOException {
        if (Files.isDirectory(file)) {
            // As is the empty path: its rights must not be changed.
            throw new IOException("'" + file + "' is a folder: name a file");
        }
        final Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
        if (!OWNER.containsAll(rights)) {
            throw new IOException(file + " can be accessed by others: use 'chmod 600 " + file + "'");
        }
        final byte[] bytes;
        try (var in = Files.newInputStream(file)) {
            bytes = ByteStreams.limit(in, MAX_BYTES + 1).readAllBytes();
        }
        if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
            throw new IOException(file + " must have " + MIN_BYTES + " to " + MAX_BYTES + " bytes");
        }
        return new Secret(bytes);
    }

    /**
     * The proof of one side of a connection.
     *
     * @param side    of the connection, so that the other side's proof is of no use
     * @param request hello of the requesting node, with its challenge
     * @param reply   hello of the accepting node, with its challenge
     */
    byte[] proof(final String side, final byte[] request, final byte[] reply) {
        try {
            final Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update(side.getBytes(StandardCharsets.US_ASCII));
            mac.update((byte) request.length);
            mac.update(request);
            return mac.doFinal(reply);
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException(ALGORITHM + " is not available", e);
        }
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "a secret";
    }
}
