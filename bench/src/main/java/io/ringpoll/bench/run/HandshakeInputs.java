package io.ringpoll.bench.run;

import io.ringpoll.bench.fuzz.FuzzTarget;
import io.ringpoll.bench.fuzz.ReaderTarget;
import io.ringpoll.bench.options.Execution;
import java.util.List;
import picocli.CommandLine.ParameterException;

/** What the main job reads of others: for the fuzzer. Stateless. */
public final class HandshakeInputs {
    private static final int DEPTH = 64;
    private static final int DESCRIPTOR_BYTES = 25;

    private HandshakeInputs() {
    }

    /**
     * The readers of the two sides' private data and of the options.
     *
     * @return new targets
     */
    public static List<FuzzTarget> targets() {
        return List.of(
            ReaderTarget.ofBytes("hello", IllegalArgumentException.class, Hello::decode,
                new Hello(Hello.Purpose.STEADY, 1, DEPTH, DEPTH, 1).encode()),
            ReaderTarget.ofBytes("welcome", IllegalArgumentException.class, Welcome::decode,
                new Welcome(new byte[DESCRIPTOR_BYTES], new byte[DESCRIPTOR_BYTES]).encode(),
                new Welcome(new byte[DESCRIPTOR_BYTES], new byte[0]).encode()),
            ReaderTarget.ofOptions("mix", IllegalArgumentException.class, Mix::parse, Mix.DEFAULT, "write=1e3,fail=.5", "send=1"),
            ReaderTarget.ofOptions(
                "placement", IllegalArgumentException.class, Placement::parse, "none", "0,1,0", "poller=1,client=0"),
            ReaderTarget.ofOptions("run-options", ParameterException.class,
                text -> Execution.check(new RunCommand(), text.split(" ")),
                "--seconds 5 --mix write=40,send=30 --payload 64 --connections 2 --depth 64",
                "--operations 100 --batch 32 --ring-size 8192 --wait yield --pin 0,1 --json",
                "--device loopback --address 127.0.0.1:7471 --role both --seed 1 --faults poll@1"));
    }
}
