package io.ringpoll.verify.fuzz;

import java.util.HexFormat;

/**
 * An input that was neither accepted nor rejected with one line.
 *
 * @param target name of the target
 * @param seed   seed of the input
 * @param input  the input; its beginning is shown
 * @param what   the result
 */
public record Finding(String target, long seed, byte[] input, String what) {
    private static final int MOST_SHOWN = 64;

    /**
     * The command that repeats the input.
     *
     * @return one line
     */
    public String replay() {
        return "./ringpoll fuzz --target " + target + " --seed " + seed + " --inputs 1";
    }

    /**
     * The beginning of the input, in hexadecimal digits.
     *
     * @return one word
     */
    public String shownInput() {
        final int length = Math.min(input.length, MOST_SHOWN);
        return HexFormat.of().formatHex(input, 0, length) + (length < input.length ? "..." : "");
    }
}
