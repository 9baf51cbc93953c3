package io.ringpoll.verify.fuzz;

import java.util.HexFormat;

/**
 * An input that was neither taken nor refused in one line.
 *
 * @param target that was fed
 * @param seed   that the input was made from
 * @param input  of which the beginning is shown
 * @param what   came of it
 */
public record Finding(String target, long seed, byte[] input, String what) {
    private static final int MOST_SHOWN = 64;

    /**
     * The command that feeds the target with the same input again.
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
