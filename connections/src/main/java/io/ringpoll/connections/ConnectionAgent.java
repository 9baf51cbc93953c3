package io.ringpoll.connections;

import io.ringpoll.internal.pipeline.InvokedAgent;
import org.agrona.concurrent.Agent;

/**
 * One poller of a set as an agent of the program: its close ends the connections in order, which a close of the poller alone
 * would not.
 *
 * <p>One thread at a time starts, invokes and closes it.
 */
final class ConnectionAgent implements Agent {
    private final ConnectionSet set;
    private final ConnectionPoller poller;
    private final InvokedAgent agent;

    ConnectionAgent(final ConnectionSet set, final ConnectionPoller poller) {
        this.set = set;
        this.poller = poller;
        agent = poller.agent();
    }

    @Override
    public String roleName() {
        return agent.roleName();
    }

    @Override
    public void onStart() {
        agent.onStart();
    }

    @Override
    public int doWork() {
        return agent.doWork();
    }

    @Override
    public void onClose() {
        // The close needs the invoking thread; if another one is in a duty cycle or callback, the close takes over later.
        poller.replaceIdleThread(poller.cycles());
        set.close();
    }
}
