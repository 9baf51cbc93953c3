package io.ringpoll.rpma;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Posting, polling and waiting allocate nothing. On the loopback device alone: it is a matter of Java, and shows only in code
 * that ran often enough to be compiled.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AllocationTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final CompletionFlag FLAG = CompletionFlag.ALWAYS;

    private final Completions completions = new Completions();
    private final Completions sent = new Completions(1);
    private ConnectedPair pair;
    private Connection client;
    private Connection server;
    private RpmaCompletionQueue queue;
    private LocalMemoryRegion mine;
    private RemoteMemoryRegion remote;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.of(config -> config.rcqSize(16).sharedCompletionChannel(true), config -> config.rcqSize(16));
        client = pair.client();
        server = pair.server();
        queue = client.completionQueue();
        mine = pair.memory(64);
        remote = pair.remote(mine);
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldAllocateNothingForWhatReadsAndWritesMemory() {
        Allocation.assertNone(() -> {
            complete(client.write(remote, 0, mine, 8, 8, FLAG, 1));
            complete(client.read(mine, 0, remote, 8, 8, FLAG, 1));
            complete(client.atomicWrite(remote, 0, 1, FLAG, 1));
            complete(client.flush(remote, 0, 8, FlushType.VISIBILITY, FLAG, 1));
        });
    }

    @Test
    void shouldAllocateNothingForMessages() {
        final RpmaCompletionQueue receives = server.receiveCompletionQueue().orElseThrow();
        Allocation.assertNone(() -> {
            server.receive(mine, 0, 8, 1);
            complete(client.send(mine, 8, 8, FLAG, 1));
            server.receive(mine, 0, 8, 1);
            complete(client.sendWithImmediate(mine, 8, 8, FLAG, 7, 1));
            server.receive(null, 0, 0, 1);
            complete(client.writeWithImmediate(remote, 0, mine, 8, 8, FLAG, 7, 1));
            completions.await(receives, 3);
        });
    }

    @Test
    void shouldAllocateNothingWhenTheQueueIsFull() {
        while (client.send(mine, 0, 8, FLAG, 1)) {
            Thread.onSpinWait();
        }
        Allocation.assertNone(() -> client.send(mine, 0, 8, FLAG, 1));
    }

    @Test
    void shouldAllocateNothingWhenPollingAnEmptyQueue() {
        Allocation.assertNone(() -> queue.poll(completions.records(), 0, 16));
        try (VerbsCompletionQueue verbs = queue.openVerbs()) {
            Allocation.assertNone(() -> verbs.poll(completions.records(), 0, 16));
        }
    }

    @Test
    void shouldAllocateNothingWhenWaitingOnAChannelOfOneQueue() {
        final RpmaCompletionQueue receives = server.receiveCompletionQueue().orElseThrow();
        Allocation.assertNone(() -> {
            send(server, client);
            receives.await(TIMEOUT_MS);
            completions.await(receives, 1);
            receives.await(0);
        });
    }

    @Test
    void shouldAllocateNothingWhenWaitingOnASharedChannel() {
        final RpmaCompletionQueue receives = client.receiveCompletionQueue().orElseThrow();
        Allocation.assertNone(() -> {
            send(client, server);
            client.awaitCompletions(TIMEOUT_MS);
            completions.await(receives, 1);
            client.awaitCompletions(0);
        });
    }

    @Test
    void shouldAllocateNothingInTheWholeRoundOfACompletionChannel() {
        final RpmaCompletionQueue receives = server.receiveCompletionQueue().orElseThrow();
        try (VerbsCompletionQueue verbs = receives.openVerbs(); CompletionChannel channel = CompletionChannel.borrow(verbs)) {
            Allocation.assertNone(() -> {
                verbs.requestNotification(false);
                send(server, client);
                channel.await(TIMEOUT_MS);
                completions.await(verbs, 1);
            });
        }
    }

    /** Waits for the completion of the client's posted request. */
    private void complete(final boolean accepted) {
        if (!accepted) {
            throw new AssertionError("refused");
        }
        sent.await(queue, 1);
    }

    private void send(final Connection receiver, final Connection sender) {
        if (!receiver.receive(null, 0, 0, 1) || !sender.send(null, 0, 0, FLAG, 1)) {
            throw new AssertionError("refused");
        }
        sent.await(sender.completionQueue(), 1);
    }
}
