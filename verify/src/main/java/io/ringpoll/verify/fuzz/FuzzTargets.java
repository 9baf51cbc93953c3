package io.ringpoll.verify.fuzz;

import io.ringpoll.fault.FaultPlan;
import java.util.ArrayList;
import java.util.List;

/** All targets of the fuzzer; closed with it. Used by one thread. */
public final class FuzzTargets implements AutoCloseable {
    private final LiveConnection live = new LiveConnection();
    private final RatisNode ratisNode = new RatisNode();
    private final List<FuzzTarget> targets = new ArrayList<>();

    /**
     * Creates the targets.
     *
     * @param further targets that are fed after those of the libraries
     */
    public FuzzTargets(final List<FuzzTarget> further) {
        targets.addAll(DeviceTargets.on(live));
        targets.addAll(ratisNode.targets());
        targets.add(new CountersTarget());
        targets.add(ReaderTarget.ofText("fault-plan", IllegalArgumentException.class, FuzzTargets::readPlan,
            "seed=7,status:rem-access-err:write@100,delay:2ms@~1000", "full:3@5+10#2,rnr:2@~9,poll:4@1,reorder:20@7",
            "call:ibv_reg_mr:ENOMEM@3,call:any:5@~100,late-event:500ns@2,spurious-event@1,overrun@9,disconnect@8"));
        targets.addAll(further);
    }

    /**
     * All targets.
     *
     * @return in the order in which they are fed
     */
    public List<FuzzTarget> all() {
        return targets;
    }

    private static void readPlan(final String text) {
        final FaultPlan plan = FaultPlan.parse(text);
        if (!plan.equals(FaultPlan.parse(plan.toString()))) {
            throw new AssertionError("the plan's text is that of another: " + plan);
        }
    }

    @Override
    public void close() {
        targets.forEach(FuzzTarget::close);
        ratisNode.close();
        live.close();
    }
}
