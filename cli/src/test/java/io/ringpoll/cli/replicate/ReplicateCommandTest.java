package io.ringpoll.cli.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.options.CommandCalls;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ReplicateCommandTest {
    private final CommandCalls calls = CommandCalls.of(ReplicateCommand::new);

    @Test
    void shouldMixRecordsFromNoByteToTheLongest() throws Exception {
        assertEquals(0, calls.execute(
            "--payload 0 --payload-max 64000000 --window 2 --warm-up 0 --seconds 1 --rounds 1 --log disk --json".split(" ")),
            calls.err());
        assertEquals(64_000_000, calls.json().path("maxPayloadBytes").asInt());
        assertTrue(calls.json().path("ringpoll").path("appendsPerSecond").asDouble() > 0, calls.out());
    }

    /** At the end of a run, each state machine must have each acknowledged record, unchanged. */
    @Test
    void shouldReplicateTheLongestRecords() throws Exception {
        assertEquals(0, calls.execute(
            "--payload 64000000 --warm-up 0 --seconds 1 --rounds 1 --log disk --json".split(" ")), calls.err());
        assertTrue(calls.json().path("ringpoll").path("appendsPerSecond").asDouble() > 0, calls.out());
    }

    @Test
    void shouldReplicateOverVerbs() throws Exception {
        assertEquals(0, calls.execute(
            "--api verbs --payload-max 1000000 --window 8 --warm-up 0 --seconds 1 --rounds 1 --json".split(" ")), calls.err());
        assertTrue(calls.json().path("ringpoll,api=verbs").path("appendsPerSecond").asDouble() > 0, calls.out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--payload=-1 | --payload is 0 to 64000000 bytes",
        "--payload-max=99 | --payload-max is --payload to 64000000 bytes",
        "--payload-max=64000001 | --payload-max is --payload to 64000000 bytes",
        "--api=verbs --transport=netty | --api is for --transport ringpoll",
        "--window=0 | --window is 1 to 10000",
        "--variant=a=b | --variant is for --compare",
        "--compare --variant=a | --variant a is not KEY=VALUE[,KEY=VALUE...]",
        "--compare --variant=a=b, | --variant a=b, is not KEY=VALUE[,KEY=VALUE...]",
        "--compare --variant=a=b,a=c | --variant a=b,a=c is not KEY=VALUE[,KEY=VALUE...]",
        "--servers=0 | --servers is 1 to 15",
        "--servers=16 | --servers is 1 to 15",
        "--groups=0 | --groups is 1 to 100",
        "--groups=101 | --groups is 1 to 100",
        "--groups=2 --stream=1 | with --stream there is no --groups",
        "--log=tape | --log is memory or disk",
        "--role=peer | --role 'peer' is not both, server or client",
        "--processes --groups=2 | with --processes there is no --role, --stream, --profile or --groups",
        "--processes --role=client | with --processes there is no --role, --stream, --profile or --groups",
        "--processes --payload=8 | with --processes, --payload is at least 20",
        "--compare --transport=netty | --compare measures ringpoll and netty: no --transport",
        "--stream=1 --payload=1 | with --stream there is no --role, --plots, --profile, --lead-in, --payload or --payload-max",
        "--transport=tcp | Invalid value for option '--transport': 'tcp' is not ringpoll, netty or grpc;"
            + " see './ringpoll replicate --help'",
        "--property=x | Value for option '--property' (KEY=VALUE) should be in KEY=VALUE format but was x;"
            + " see './ringpoll replicate --help'",
        "--property=credits=1 | --property credits: the keys of all settings begin with raft.",
        "--property=raft.rdma.credit=64 | --property raft.rdma.credit: there is no such setting; did you mean raft.rdma.credits?",
        "--compare --variant=raft.rdma.poler.spin=0 | --variant raft.rdma.poler.spin: there is no such setting;"
            + " did you mean raft.rdma.poller.spin?",
        "--property=raft.rpc.type=NETTY | --property raft.rpc.type: --transport sets it",
        "--api=verbs --property=raft.rdma.api=rpma | --api and --property raft.rdma.api exclude each other",
        "--often | Unknown option: '--often'; see './ringpoll replicate --help'"
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertEquals("ringpoll replicate: " + message, calls.err().strip());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--property=raft.rdma.api=verb | --property: raft.rdma.api = verb: use rpma or verbs",
        "--property=raft.rdma.credits=-1 | --property: raft.rdma.credits = -1: use a number, 2 to 4096",
        "--stream=1 --property=raft.rdma.credits=x | --property: raft.rdma.credits = x: use a number, 2 to 4096",
        "--compare --variant=raft.rdma.api=verb --warm-up=0 --seconds=1 --rounds=1 | --variant: raft.rdma.api = verb:"
            + " use rpma or verbs"
    })
    void shouldRefuseAnInvalidSettingInOneLine(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertEquals("ringpoll replicate: " + message, calls.err().strip().lines().toList().getLast());
        assertFalse(calls.err().contains("\tat "), calls.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--role=server --dir=x | --peers is IP:PORT for each server, separated by commas",
        "--role=server --dir=x --peers=a:1,a:1 | --peers names a:1 twice: each server has an address of its own",
        "--role=server --dir=x --peers=a:1,b --id=0 | --peers is IP:PORT for each server, separated by commas",
        "--role=server --dir=x --peers=a:1,b:1 --id=2 | --id is 0 to 1",
        "--role=server --dir=x --peers=a:1 --servers=5 | with --role, --peers has the servers: no --servers, no --groups",
        "--role=server --dir=x --peers=a:1 --groups=2 | with --role, --peers has the servers: no --servers, no --groups",
        "--role=server --peers=a:1 | --role server needs --dir",
        "--role=client --peers=a:1 | --role client needs --acknowledged",
        "--dir=x | --peers, --id, --dir, --acknowledged, --latencies, --every and --election are for --role server or client",
        "--id=0 | --peers, --id, --dir, --acknowledged, --latencies, --every and --election are for --role server or client"
    })
    void shouldRefuseARoleWithoutItsOptionsInOneLine(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertEquals("ringpoll replicate: " + message, calls.err().strip());
    }
}
