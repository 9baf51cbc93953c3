package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The values of a hello arrive, and a hello that is cut off is refused. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HelloTest {
    /** Magic number, version, credits, length of a frame and of a message. */
    private static final int COMMON_BYTES = 16;
    private static final int LENGTH_BYTES = 36;
    private static final int VERSION_OFFSET = 4;
    private static final int FLAGS_OFFSET = 16;
    private static final int NAME_LENGTH_OFFSET = 17;

    private static byte[] bytes(final int length, final int first) {
        final byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (first + i);
        }
        return bytes;
    }

    private static Hello request(final String name) {
        return new Hello(5, 4096, 1 << 20, PeerRole.SERVER, name, bytes(Hello.CHALLENGE_BYTES, 1), null);
    }

    private static Hello reply() {
        return request("").withProof(bytes(Secret.PROOF_BYTES, 100));
    }

    private static void assertRefused(final byte[] privateData, final String reason) {
        final ProtocolException refused = assertThrows(ProtocolException.class, () -> Hello.of(privateData));
        assertTrue(refused.getMessage().contains(reason), refused::getMessage);
    }

    @Test
    void shouldCarryTheNameAndTheChallengeOfARequest() throws ProtocolException {
        for (final String name : List.of("", "n", "twenty letters, all1")) {
            final byte[] sent = request(name).bytes();
            assertEquals(LENGTH_BYTES + name.length(), sent.length);
            final Hello read = Hello.of(Arrays.copyOf(sent, 56));
            assertEquals(name, read.name());
            assertEquals(5, read.credits());
            assertEquals(4096, read.bufferBytes());
            assertEquals(1 << 20, read.maxMessageBytes());
            assertEquals(PeerRole.SERVER, read.role());
            assertArrayEquals(bytes(Hello.CHALLENGE_BYTES, 1), read.challenge());
            assertNull(read.proof());
        }
    }

    @Test
    void shouldCarryTheProofOfAReply() throws ProtocolException {
        final byte[] sent = reply().bytes();
        assertEquals(LENGTH_BYTES + Secret.PROOF_BYTES, sent.length);
        final Hello read = Hello.of(sent);
        assertArrayEquals(bytes(Secret.PROOF_BYTES, 100), read.proof());
        assertEquals("", read.name());
    }

    @Test
    void shouldBeRefusedIfItIsCutOff() throws ProtocolException {
        for (final byte[] sent : List.of(request("name").bytes(), reply().bytes())) {
            for (int length = 0; length < sent.length; length++) {
                final byte[] cut = Arrays.copyOf(sent, length);
                assertThrows(ProtocolException.class, () -> Hello.of(cut), cut.length + " bytes");
            }
            Hello.of(sent);
        }
    }

    @Test
    void shouldBeToldByItsVersionHoweverShortThatVersionIs() {
        final byte[] other = Arrays.copyOf(request("").bytes(), COMMON_BYTES);
        other[VERSION_OFFSET] = 1;
        assertRefused(other, "version 1");
        assertRefused(Arrays.copyOf(other, COMMON_BYTES - 1), "not a peer");
    }

    @Test
    void shouldBeRefusedWithALongerNameOrForeignFlags() {
        final byte[] longName = Arrays.copyOf(request("").bytes(), 56);
        longName[NAME_LENGTH_OFFSET] = Hello.MAX_NAME_BYTES + 1;
        assertRefused(longName, "a name of 21 bytes");
        longName[NAME_LENGTH_OFFSET] = -1;
        assertRefused(longName, "a name of -1 bytes");
        final byte[] nameAndProof = reply().bytes();
        nameAndProof[NAME_LENGTH_OFFSET] = 1;
        assertRefused(nameAndProof, "a name of 1 bytes");
        final byte[] flags = request("").bytes();
        flags[FLAGS_OFFSET] = 8;
        assertRefused(flags, "flags 8");
    }

    @Test
    void shouldBeRefusedWithALimitBelowTheShortestBuffer() throws ProtocolException {
        final int least = NodeConfig.MIN_BUFFER_BYTES;
        for (final int limit : new int[] {Integer.MIN_VALUE, -1, 0, least - 1}) {
            assertRefused(new Hello(5, 4096, limit, PeerRole.SERVER, "n", null, null).bytes(), "messages of at most " + limit);
        }
        final Hello shortest = new Hello(5, 4096, least, PeerRole.SERVER, "n", null, null);
        assertEquals(least, Hello.of(shortest.bytes()).maxMessageBytes());
    }

    @Test
    void shouldNotPrintAForeignNameAsItIs() {
        assertEquals("server a?b", request("a\nb").description());
        assertEquals("client without a name", new Hello(1, 4096).description());
    }
}
