package io.ringpoll.cli.replicate;

import io.ringpoll.bench.replicate.RoleConfig;
import io.ringpoll.cli.options.RoleOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a process that is one server, or the client, of a group of processes. */
final class RoleOptions {
    private static final int DEFAULT_ELECTION_MS = 1_000;
    private static final int HIGHEST_PORT = 65_535;

    @Mixin
    RoleOption role = new RoleOption();

    @Option(
        names = "--peers", paramLabel = "IP:PORT", split = ",",
        description = "With --role: addresses of all servers, separated by commas.")
    List<String> peers = List.of();

    @Option(
        names = "--id", paramLabel = "N",
        description = "With --role server: its index in --peers, from 0 (0).")
    Integer id;

    @Option(
        names = "--dir", paramLabel = "DIR",
        description = "With --role server: folder of its log; an existing log is continued.")
    Path folder;

    @Option(
        names = "--acknowledged", paramLabel = "FILE",
        description = "With --role client: file for the acknowledged records, for 'replicate verify'.")
    Path acknowledged;

    @Option(
        names = "--latencies", paramLabel = "FILE",
        description = "With --role client: file for the histogram of its latencies (a log of HdrHistogram).")
    Path latencies;

    @Option(
        names = "--every", paramLabel = "MS",
        description = "With --role client: minimum interval of appends in milliseconds, to leave CPU time to other processes" +
            " (0).")
    Integer everyMs;

    @Option(
        names = "--election", paramLabel = "MS",
        description = "With --role server: the shortest election time-out; the longest is twice that (1000).")
    Integer electionMs;

    /** The first invalid option, or null. */
    String fault() {
        if (role.isBoth()) {
            final boolean none = peers.isEmpty() && folder == null && acknowledged == null && id == null && everyMs == null &&
                electionMs == null && latencies == null;
            return none ? null :
                "--peers, --id, --dir, --acknowledged, --latencies, --every and --election are for --role server or client";
        }
        if (peers.isEmpty() || !peers.stream().allMatch(RoleOptions::isPeer)) {
            return "--peers is IP:PORT for each server, separated by commas";
        }
        final Set<String> different = new HashSet<>();
        for (final String peer : peers) {
            if (!different.add(peer)) {
                return "--peers names " + peer + " twice: each server has an address of its own";
            }
        }
        if (electionMs() < 10 || everyMs() < 0) {
            return "--election is at least 10 ms, --every at least 0";
        }
        if (role.side() == RoleOption.Side.SERVER) {
            return id() < 0 || id() >= peers.size() ? "--id is 0 to " + (peers.size() - 1) :
                folder == null ? "--role server needs --dir" : null;
        }
        return acknowledged == null ? "--role client needs --acknowledged" : null;
    }

    int id() {
        return id == null ? 0 : id;
    }

    int everyMs() {
        return everyMs == null ? 0 : everyMs;
    }

    int electionMs() {
        return electionMs == null ? DEFAULT_ELECTION_MS : electionMs;
    }

    private static boolean isPeer(final String text) {
        final int colon = text.lastIndexOf(':');
        try {
            final int port = Integer.parseInt(text.substring(colon + 1));
            return colon > 0 && port > 0 && port <= HIGHEST_PORT;
        } catch (final NumberFormatException e) {
            return false;
        }
    }

    RoleConfig config() {
        return new RoleConfig(peers, id(), folder, acknowledged, everyMs(), electionMs());
    }
}
