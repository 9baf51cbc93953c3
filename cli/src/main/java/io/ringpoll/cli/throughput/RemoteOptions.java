package io.ringpoll.cli.throughput;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.cli.options.AddressOption;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.RoleOption;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a measurement whose server is another process. */
final class RemoteOptions {
    private static final int DEFAULT_PORT = 7492;
    private static final int DEFAULT_SIZE = 64;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Mixin
    private RoleOption role = new RoleOption();

    @Mixin
    private AddressOption address = new AddressOption(DEFAULT_PORT);

    @Option(names = "--operation", paramLabel = "OP",
        description = "With --role client: operation that is posted: send, write or read (write).")
    private String operation;

    @Option(names = "--size", paramLabel = "BYTES", description = "With --role client: message length (64).")
    private Integer size;

    @Option(names = "--depth", paramLabel = "N",
        description = "With --role client: operations in flight, 1 to " + LinkEnd.DEPTH + " (" + LinkEnd.DEPTH + ").")
    private Integer depth;

    /** Created by picocli. */
    RemoteOptions() {
    }

    void check() {
        address.check();
        require(role.side() == RoleOption.Side.CLIENT || operation == null && size == null && depth == null,
            "--operation, --size and --depth are for --role client");
        require(!role.isBoth() || !command.commandLine().getParseResult().hasMatchedOption("--address"),
            "--address is for --role server or --role client");
        operation();
        require(size() >= 1 && size() <= LinkEnd.MEMORY_BYTES,
            "--size " + size() + " is not from 1 to " + LinkEnd.MEMORY_BYTES + " bytes");
        require(depth() >= 1 && depth() <= LinkEnd.DEPTH, "--depth " + depth() + " is not from 1 to " + LinkEnd.DEPTH);
    }

    RoleOption role() {
        return role;
    }

    AddressOption address() {
        return address;
    }

    Traffic.Operation operation() {
        if (operation == null) {
            return Traffic.Operation.WRITE;
        }
        for (final Traffic.Operation candidate : Traffic.Operation.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).equals(operation)) {
                return candidate;
            }
        }
        throw new ParameterException(command.commandLine(), "--operation '" + operation + "' is not send or write or read");
    }

    int size() {
        return size == null ? DEFAULT_SIZE : size;
    }

    int depth() {
        return depth == null ? LinkEnd.DEPTH : depth;
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(command, holds, otherwise);
    }
}
