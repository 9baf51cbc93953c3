package io.ringpoll.bench.fuzz;

import io.ringpoll.bench.options.Execution;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Reads a text, refusing by an exception of one kind. */
public final class TextTarget implements FuzzTarget {
    private static final int CHEAP = 20;

    private final String name;
    private final Class<? extends RuntimeException> refusal;
    private final Consumer<String> reader;
    private final List<byte[]> examples;
    private final UnaryOperator<String> shown;

    /**
     * Creates a target.
     *
     * @param name     of it
     * @param refusal  what it throws for a wrong text
     * @param reader   that is fed
     * @param examples of right texts
     */
    public TextTarget(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<String> reader,
        final String... examples) {
        this(name, refusal, reader, UnaryOperator.identity(), examples);
    }

    private TextTarget(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<String> reader,
        final UnaryOperator<String> shown, final String... examples) {
        this.shown = shown;
        this.name = name;
        this.refusal = refusal;
        this.reader = reader;
        this.examples = List.of(examples).stream().map(example -> example.getBytes(StandardCharsets.UTF_8)).toList();
    }

    /**
     * Creates a target that reads what was typed behind a command, whose refusals are shown as the commands show them.
     *
     * @param name     of it
     * @param refusal  what it throws for a wrong text
     * @param reader   that is fed
     * @param examples of right texts
     * @return a new target
     */
    public static TextTarget ofOptions(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<String> reader,
        final String... examples) {
        return new TextTarget(name, refusal, reader, Execution::oneLine, examples);
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
            reader.accept(new String(input, StandardCharsets.UTF_8));
        } catch (final RuntimeException thrown) {
            if (refusal.isInstance(thrown)) {
                throw new Refused(shown.apply(thrown.getMessage()), thrown);
            }
            throw thrown;
        }
    }
}
