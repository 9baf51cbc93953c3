package io.ringpoll.verify.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Creates nearly valid inputs: examples with bytes changed, cut, doubled and joined, and sometimes random bytes.
 *
 * <p>The same seed creates the same input.
 */
final class Mutator {
    private static final int MAX_CHANGES = 6;
    private static final int MAX_PIECE_BYTES = 32;
    private static final int MAX_NOISE_BYTES = 300;
    private static final int NOISE_ONE_IN = 12;
    /** Bytes that delimit or bound the input of parsers of numbers, lengths and lists. */
    private static final byte[] CRITICAL = {
        0, 1, -1, Byte.MAX_VALUE, Byte.MIN_VALUE, ',', ':', '=', '@', '#', '~', '+', '-', '.', '0', '9', ' ', '\n', '%',
        '\'', '"', 'E', 'x'};

    private final SplittableRandom random;

    Mutator(final long seed) {
        random = new SplittableRandom(seed);
    }

    byte[] input(final List<byte[]> examples) {
        if (random.nextInt(NOISE_ONE_IN) == 0) {
            final byte[] noise = new byte[random.nextInt(MAX_NOISE_BYTES)];
            random.nextBytes(noise);
            return noise;
        }
        byte[] input = examples.get(random.nextInt(examples.size()));
        for (int changes = 1 + random.nextInt(MAX_CHANGES); changes > 0; changes--) {
            input = changed(input, examples);
        }
        return input;
    }

    private byte[] changed(final byte[] input, final List<byte[]> examples) {
        final int at = random.nextInt(input.length + 1);
        final int length = Math.min(random.nextInt(MAX_PIECE_BYTES), input.length - at);
        return switch (random.nextInt(8)) {
            case 0 -> joined(input, at, new byte[] {(byte) random.nextInt()}, Math.min(input.length, at + 1));
            case 1 -> joined(input, at, new byte[] {critical()}, Math.min(input.length, at + 1));
            case 2 -> joined(input, at, new byte[] {critical()}, at);
            case 3 -> joined(input, at, new byte[0], at + length);
            case 4 -> joined(input, at, slice(input, at, length), at);
            case 5 -> joined(input, at, new byte[0], input.length);
            case 6 -> joined(input, at, number(), Math.min(input.length, at + 1));
            default -> {
                final byte[] other = examples.get(random.nextInt(examples.size()));
                final int from = random.nextInt(other.length + 1);
                yield joined(input, at, slice(other, from, other.length - from), input.length);
            }
        };
    }

    private byte critical() {
        return CRITICAL[random.nextInt(CRITICAL.length)];
    }

    /** A number in text, of any size. */
    private byte[] number() {
        return Long.toString(random.nextLong() >> random.nextInt(Long.SIZE)).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] slice(final byte[] bytes, final int from, final int length) {
        return Arrays.copyOfRange(bytes, from, from + length);
    }

    /** The input up to a place, a piece, and the input from another place on. */
    private static byte[] joined(final byte[] input, final int end, final byte[] piece, final int from) {
        final ByteArrayOutputStream joined = new ByteArrayOutputStream();
        joined.write(input, 0, end);
        joined.write(piece, 0, piece.length);
        joined.write(input, from, input.length - from);
        return joined.toByteArray();
    }
}
