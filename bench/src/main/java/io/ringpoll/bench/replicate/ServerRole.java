package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.TimeDuration;

/** One server of a group of processes: runs until the process gets a signal, or for a time. */
public final class ServerRole {
    private static final long LOOK_MS = 200;

    private final RoleConfig config;
    private final Contestant contestant;
    /** The reason why the log cannot be written any more; null if it can. */
    private volatile Throwable logFailure;

    /**
     * Prepares a server.
     *
     * @param config     of the process
     * @param contestant the transport, and its settings
     */
    public ServerRole(final RoleConfig config, final Contestant contestant) {
        this.config = config;
        this.contestant = contestant;
    }

    /** Starts the server; close() stops it. */
    RaftServer start(final PrintWriter out) throws IOException {
        final String address = config.peers().get(config.id());
        final int colon = address.lastIndexOf(':');
        final RaftProperties properties = new RaftProperties();
        contestant.transport().choose(properties);
        contestant.transport().listen(properties, address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        RaftServerConfigKeys.setStorageDir(properties, List.of(config.folder().toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(config.electionMs(), TimeUnit.MILLISECONDS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(2L * config.electionMs(), TimeUnit.MILLISECONDS));
        contestant.properties().forEach(properties::set);
        try {
            return started(properties, out);
        } catch (final CompletionException failed) {
            // The engine starts a group on a thread of its own.
            throw new IOException("server " + config.id() + " cannot start: " + failed.getCause().getMessage() +
                "; another server may use " + config.folder() + ": end it, or use another folder", failed);
        } catch (final IOException failed) {
            for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
                if (cause instanceof BindException) {
                    throw new IOException("server " + config.id() + " cannot listen on " + address + ": the port is in use; end" +
                        " the process that uses it, or choose another port, in --peers of all processes", failed);
                }
            }
            throw failed;
        }
    }

    private RaftServer started(final RaftProperties properties, final PrintWriter out) throws IOException {
        final RaftServer server = RaftServer.newBuilder().setServerId(RaftPeerId.valueOf("server-" + config.id()))
            .setGroup(config.group()).setOption(RaftStorage.StartupOption.RECOVER).setProperties(properties)
            .setStateMachine(new RecordLog() {
                @Override
                public void notifyLeaderChanged(final RaftGroupMemberId member, final RaftPeerId leader) {
                    out.println("the leader is " + leader);
                    out.flush();
                }

                @Override
                public void notifyLogFailed(final Throwable cause, final LogEntryProto entry) {
                    // The first one has the reason: after it, the engine reports of each entry that the log has failed.
                    synchronized (ServerRole.this) {
                        logFailure = logFailure == null ? cause : logFailure;
                    }
                }
            }).build();
        boolean started = false;
        try {
            server.start();
            started = true;
            return server;
        } finally {
            if (!started) {
                server.close();
            }
        }
    }

    /**
     * Serves until the process gets a signal, or its life time is over.
     *
     * @param out     receives a line for each change of the leader
     * @param seconds life time of the server
     * @return 0
     * @throws IOException          if the server fails, or the engine closes it
     * @throws InterruptedException if the calling thread is interrupted
     */
    public int run(final PrintWriter out, final long seconds) throws IOException, InterruptedException {
        final RaftServer server = start(out);
        out.println("server " + config.id() + " listens on " + config.peers().get(config.id()));
        out.flush();
        serve(server, out, seconds);
        return 0;
    }

    /** Waits for the end of a started server, and closes it. */
    void serve(final RaftServer server, final PrintWriter out, final long seconds) throws IOException, InterruptedException {
        final CountDownLatch end = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                end.countDown();
                await(ended);
            }, "end"));
            final long startNs = System.nanoTime();
            while (!end.await(LOOK_MS, TimeUnit.MILLISECONDS)) {
                if (logFailure != null) {
                    // The engine would answer heartbeats for ever, but store nothing.
                    throw new IOException("server " + config.id() + " cannot write its log in " + config.folder() + ": " +
                        Objects.requireNonNullElse(logFailure.getMessage(), logFailure) +
                        "; free some space there, or repair the disk, and start it again", logFailure);
                }
                if (!isServing(server)) {
                    throw new IOException("Apache Ratis has closed server " + config.id() + ", for the reason in its log lines" +
                        " (for instance, the process was stopped for longer than " + RaftServerConfigKeys.CLOSE_THRESHOLD_KEY +
                        "); start it again");
                }
                if (System.nanoTime() - startNs >= TimeUnit.SECONDS.toNanos(seconds)) {
                    out.println("the time of server " + config.id() + " is over");
                    out.flush();
                    return;
                }
            }
        } finally {
            server.close();
            ended.countDown();
        }
    }

    /** Of a server whose log or state machine has failed, the engine closes the division alone. */
    private boolean isServing(final RaftServer server) throws IOException {
        return !server.getLifeCycleState().isClosingOrClosed() &&
            server.getDivision(config.group().getGroupId()).getInfo().isAlive();
    }

    private static void await(final CountDownLatch latch) {
        try {
            latch.await(RaftClientConfigKeys.Rpc.REQUEST_TIMEOUT_DEFAULT.toLong(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
