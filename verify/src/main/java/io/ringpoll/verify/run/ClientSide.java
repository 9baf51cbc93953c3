package io.ringpoll.verify.run;

import io.ringpoll.internal.rc.RcPeer;



/**
 * The client of the main job with its threads: the posting thread, and that of the fault lane.
 *
 * <p>Used by the main thread.
 */
final class ClientSide implements Side {
    private final Accounts accounts;
    private final Client client;
    private final FaultLane faultLane;
    private final Thread clientThread;
    private final Thread faultThread;

    /** Connects and starts. */
    ClientSide(
        final RcPeer peer, final PolledQueues queues, final Ledger ledger, final Accounts accounts, final RunConfig config) {
        this.accounts = accounts;
        this.faultLane = new FaultLane(peer, queues, ledger, accounts, config);
        this.client = new Client(config, queues, accounts, faultLane, config.newClientIdleStrategy());
        client.connect(peer, ledger);
        this.clientThread = MainJob.start(client, "ringpoll-client");
        this.faultThread = MainJob.start(faultLane, "ringpoll-faults");
    }

    @Override
    public boolean hasBegun() {
        return true;
    }

    @Override
    public boolean isOver() {
        client.watchPeers();
        return !clientThread.isAlive() || faultLane.failure() != null || client.isAlone();
    }

    @Override
    public void finish() throws InterruptedException {
        client.stop();
        faultLane.stop();
        while (clientThread.isAlive()) {
            client.watchPeers();
            clientThread.join(MainJob.TICK_MS);
        }
        faultThread.join();
    }

    @Override
    public void close() {
        client.close();
        if (faultLane.failure() != null) {
            final String what = "fault lane: " + faultLane.failure();
            if (client.isAlone()) {
                accounts.note(what);
            } else {
                accounts.complain(what);
            }
        }
    }
}
