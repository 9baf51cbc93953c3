package io.ringpoll.bench.fuzz;

import java.util.List;
import java.util.function.Consumer;

/** Reads bytes, refusing by an exception of one kind. */
public final class BytesTarget implements FuzzTarget {
    private static final int CHEAP = 20;

    private final String name;
    private final Class<? extends RuntimeException> refusal;
    private final Consumer<byte[]> reader;
    private final List<byte[]> examples;

    /**
     * Creates a target.
     *
     * @param name     of it
     * @param refusal  what it throws for wrong bytes
     * @param reader   that is fed
     * @param examples of right bytes
     */
    public BytesTarget(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<byte[]> reader,
        final byte[]... examples) {
        this.name = name;
        this.refusal = refusal;
        this.reader = reader;
        this.examples = List.of(examples);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int inputsInTurn() {
        return CHEAP;
    }

    @Override
    public List<byte[]> examples() {
        return examples;
    }

    @Override
    public void read(final byte[] input) throws Refused {
        try {
            reader.accept(input);
        } catch (final RuntimeException thrown) {
            if (refusal.isInstance(thrown)) {
                throw new Refused(thrown);
            }
            throw thrown;
        }
    }
}
