package io.ringpoll.verify.run;

import io.ringpoll.verify.fuzz.FuzzTarget;
import io.ringpoll.verify.fuzz.ReaderTarget;
import java.util.List;
import java.util.function.UnaryOperator;

/** The parsers of external input of the main job, as fuzz targets. Stateless. */
public final class HandshakeInputs {
    private static final int DEPTH = 64;
    private static final int DESCRIPTOR_BYTES = 25;

    private HandshakeInputs() {
    }

    /**
     * The readers of the two sides' private data, of a mix and of a pinning.
     *
     * @param shown a message as the command line shows it
     * @return new targets
     */
    public static List<FuzzTarget> targets(final UnaryOperator<String> shown) {
        return List.of(
            ReaderTarget.ofBytes("hello", IllegalArgumentException.class, Hello::decode,
                new Hello(Hello.Purpose.STEADY, 1, DEPTH, DEPTH, 1).encode()),
            ReaderTarget.ofBytes("welcome", IllegalArgumentException.class, Welcome::decode,
                new Welcome(new byte[DESCRIPTOR_BYTES], new byte[DESCRIPTOR_BYTES]).encode(),
                new Welcome(new byte[DESCRIPTOR_BYTES], new byte[0]).encode()),
            ReaderTarget.ofText(
                "mix", IllegalArgumentException.class, shown, Mix::parse, Mix.DEFAULT, "write=1e3,fail=.5", "send=1"),
            ReaderTarget.ofText(
                "pinning", IllegalArgumentException.class, shown, RunPinning::parse, "none", "0,1,0", "poller=1,client=0"));
    }
}
