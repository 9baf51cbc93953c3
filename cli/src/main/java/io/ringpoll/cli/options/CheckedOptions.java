package io.ringpoll.cli.options;

/** A command that checks its options as a whole, after parsing and before it runs. */
public interface CheckedOptions {
    /**
     * Rejects invalid options.
     *
     * @throws picocli.CommandLine.ParameterException in one line with the option and its valid values
     */
    void check();
}
