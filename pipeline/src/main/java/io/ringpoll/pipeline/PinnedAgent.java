package io.ringpoll.pipeline;

import org.agrona.concurrent.Agent;

/**
 * An agent whose thread is pinned before the agent's own start.
 */
final class PinnedAgent implements Agent {
    private final Agent agent;
    private final int cpu;

    PinnedAgent(final Agent agent, final int cpu) {
        this.agent = agent;
        this.cpu = cpu;
    }

    @Override
    public void onStart() {
        ThreadPlacement.pinCurrentThread(cpu);
        agent.onStart();
    }

    @Override
    public int doWork() throws Exception {
        return agent.doWork();
    }

    @Override
    public void onClose() {
        agent.onClose();
    }

    @Override
    public String roleName() {
        return agent.roleName();
    }
}
