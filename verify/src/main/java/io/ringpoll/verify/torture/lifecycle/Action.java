package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineReport;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** A kind of public call, with the check of its result. */
enum Action {
    ADD_QUEUE(14, true, Action::addQueue),
    REMOVE_QUEUE(14, true, Action::removeQueue),
    REPORT_FAULT(2, true, Action::reportFault),
    PAUSE(4, true, operator -> pause(operator, true)),
    RESUME(6, true, operator -> pause(operator, false)),
    DRAIN(5, true, Action::drain),
    STOP(1, true, operator -> end(operator, "stop", Pipeline::stop)),
    CLOSE(1, true, operator -> end(operator, "close", Pipeline::close)),
    DRAIN_GROUP(1, true, Action::drainGroup),
    CLOSE_GROUP(1, false, Action::closeGroup),
    LOOK(6, true, Action::look),
    FEED(24, true, operator -> operator.anyQueue().feed(operator.random())),
    RELEASE(8, false, operator -> operator.world().release(4)),
    DISCONNECT(1, false, Action::disconnect),
    CLOSE_QUEUE(1, false, Action::closeQueue),
    INTERRUPT_OPERATOR(3, true, Action::interruptOperator),
    INTERRUPT_THREAD(2, true, Action::interruptThread),
    COLLECT(1, false, operator -> System.gc()),
    WATCH(1, false, Action::watch),
    EXECUTE(6, true, Action::execute),
    INVOKE_AGENT(6, true, Action::invokeAgent),
    CLOSE_AGENT(1, true, Action::closeAgent),
    NAP(6, false, operator -> LockSupport.parkNanos(operator.random().nextInt(1_000_000)));

    private static final Action[] ALL = weighted();
    private static final int FAULT_CODE = -7;

    private final int weight;
    private final boolean forHandlers;
    private final Consumer<Operator> call;

    Action(final int weight, final boolean forHandlers, final Consumer<Operator> call) {
        this.weight = weight;
        this.forHandlers = forHandlers;
        this.call = call;
    }

    private static Action[] weighted() {
        final List<Action> all = new ArrayList<>();
        for (final Action action : values()) {
            for (int i = 0; i < action.weight; i++) {
                all.add(action);
            }
        }
        return all.toArray(Action[]::new);
    }

    static Action draw(final SplittableRandom random) {
        return ALL[random.nextInt(ALL.length)];
    }

    /** Whether a handler may call it during a completion. */
    boolean isForHandlers() {
        return forHandlers;
    }

    void perform(final Operator operator) {
        call.accept(operator);
    }

    /** A call that ends a pipeline. */
    @FunctionalInterface
    private interface End {
        PipelineReport end(Pipeline pipeline, long timeoutNs);
    }

    private static void addQueue(final Operator operator) {
        final World world = operator.world();
        final TorturedQueue queue = operator.anyQueue();
        final PipelineUnderTest wanted = operator.anyPipeline();
        if (!queue.lock().tryLock()) {
            return;
        }
        try {
            if (queue.owner() != null || !queue.isUsable()) {
                return;
            }
            final boolean byGroup = world.group() != null && operator.random().nextInt(4) != 0;
            final boolean refused = byGroup ? world.pipelines().stream().allMatch(PipelineUnderTest::refusesQueues) :
                wanted.refusesQueues();
            final List<PipelineUnderTest> closed =
                world.pipelines().stream().filter(PipelineUnderTest::refusesQueues).toList();
            queue.attach();
            try {
                final PipelineUnderTest owner;
                if (byGroup) {
                    final Pipeline chosen = world.group().addQueue(queue.queue());
                    owner = world.pipelines().stream().filter(one -> one.pipeline() == chosen).findFirst().orElseThrow();
                } else {
                    wanted.pipeline().addQueue(queue.queue());
                    owner = wanted;
                }
                queue.ownedBy(owner, byGroup);
                world.violations().expect(!refused && !closed.contains(owner),
                    owner.name() + " took " + queue.queue().name() + " although it had ended or failed before");
            } catch (final IllegalStateException notTaken) {
                queue.detach();
            }
        } finally {
            queue.lock().unlock();
        }
    }

    private static void removeQueue(final Operator operator) {
        final World world = operator.world();
        final TorturedQueue queue = operator.anyQueue();
        if (!queue.lock().tryLock()) {
            return;
        }
        try {
            final PipelineUnderTest owner = queue.owner();
            // Two pollers that wait for each other's duty cycle are a deadlock by wrong use.
            if (owner == null || operator.isHandler() && world.shape().runToCompletion() && owner != operator.home()) {
                return;
            }
            try {
                final boolean awaitsHandlers = operator.random().nextInt(4) == 0;
                if (awaitsHandlers && !operator.isHandler() && !queue.isByGroup()) {
                    owner.pipeline().removeQueue(queue.queue(), PipelineUnderTest.PATIENCE_NS);
                } else {
                    Operator.untilInTime(Operator.PATIENCE_NS, () -> {
                        if (queue.isByGroup()) {
                            world.group().removeQueue(queue.queue());
                        } else {
                            owner.pipeline().removeQueue(queue.queue());
                        }
                    });
                }
                queue.ownedBy(null, false);
                queue.detach();
            } catch (final TimeoutException notLetGo) {
                world.violations().unexpected("removeQueue of " + owner.name() +
                    (operator.isHandler() ? " by a handler" : ""), notLetGo);
            }
        } finally {
            queue.lock().unlock();
        }
    }

    private static void reportFault(final Operator operator) {
        try {
            operator.anyPipeline().pipeline().reportQueueFault(operator.anyQueue().queue(), FAULT_CODE);
        } catch (final IllegalStateException ended) {
            // The pipeline executes no more commands.
        }
    }

    private static void execute(final Operator operator) {
        final PipelineUnderTest subject = operator.anyPipeline();
        operator.within(0, subject.name() + ".execute", subject::execute);
    }

    private static void pause(final Operator operator, final boolean pause) {
        final PipelineUnderTest subject = operator.anyPipeline();
        final long timeoutNs = operator.anyTimeoutNs();
        operator.within(timeoutNs, subject.name() + (pause ? ".pause" : ".resume"), () -> {
            final boolean done = pause ? subject.pipeline().pause(timeoutNs) : subject.pipeline().resume(timeoutNs);
            if (!done && !pause && !operator.isHandler()) {
                Thread.onSpinWait();
            }
        });
    }

    private static void drain(final Operator operator) {
        final PipelineUnderTest subject = operator.anyPipeline();
        final long timeoutNs = operator.anyTimeoutNs();
        operator.within(timeoutNs, subject.name() + ".drain", () -> {
            final PipelineReport report = subject.pipeline().drain(timeoutNs);
            operator.world().violations().expect(report.polled() >= report.handled() && report.handled() >= 0,
                subject.name() + ": drain reported " + report);
        });
    }

    private static void drainGroup(final Operator operator) {
        if (operator.world().group() != null) {
            final long timeoutNs = operator.anyTimeoutNs();
            operator.within(timeoutNs, "drain of the group", () -> operator.world().group().drain(timeoutNs));
        }
    }

    private static void end(final Operator operator, final String name, final End call) {
        final PipelineUnderTest subject = operator.anyPipeline();
        final long timeoutNs = operator.anyTimeoutNs();
        operator.within(timeoutNs, subject.name() + '.' + name, () -> {
            final PipelineReport report = call.end(subject.pipeline(), timeoutNs);
            subject.onEnd(name + '(' + timeoutNs + ')', report);
            if (!operator.isHandler()) {
                subject.ended();
            }
        });
    }

    private static void closeGroup(final Operator operator) {
        final World world = operator.world();
        if (world.group() != null && operator.random().nextInt(2) == 0) {
            final long timeoutNs = operator.anyTimeoutNs();
            operator.within(timeoutNs, "close of the group", () -> {
                final List<PipelineReport> reports = world.group().close(timeoutNs);
                for (int i = 0; i < reports.size(); i++) {
                    world.pipelines().get(i).onEnd("close of the group", reports.get(i));
                    world.pipelines().get(i).ended();
                }
            });
        }
    }

    private static void look(final Operator operator) {
        final PipelineUnderTest subject = operator.anyPipeline();
        final Pipeline pipeline = subject.pipeline();
        operator.within(0, subject.name() + " queried", () -> {
            final Violations violations = operator.world().violations();
            violations.expect(pipeline.occupancy() >= 0 && pipeline.occupancy() <= operator.world().shape().ringSize(),
                subject.name() + ": occupancy " + pipeline.occupancy());
            violations.expect(pipeline.held() >= 0, subject.name() + ": held " + pipeline.held());
            violations.expect(pipeline.handlerExceptions() >= 0, subject.name() + ": exceptions");
            pipeline.handlerThreads().forEach(thread -> pipeline.causedStallNs(thread.getName()));
            pipeline.pollerCounters().completions();
            pipeline.countersFile();
            pipeline.failure();
            pipeline.readErrors(line -> { });
        });
    }

    private static void disconnect(final Operator operator) {
        if (operator.anyQueue() instanceof final EndpointQueue queue) {
            queue.endpoint().link().disconnect();
        }
    }

    /** Closes the device or the connection of a queue that is in no pipeline, or a connection with a queue in a pipeline. */
    private static void closeQueue(final Operator operator) {
        final TorturedQueue queue = operator.anyQueue();
        if (!queue.lock().tryLock()) {
            return;
        }
        try {
            if (queue instanceof final EndpointQueue endpoint) {
                endpoint.endpoint().closeEarly();
            } else if (queue instanceof final SyntheticQueue synthetic && queue.owner() == null) {
                synthetic.closeEarly();
            }
        } finally {
            queue.lock().unlock();
        }
    }

    private static void interruptOperator(final Operator operator) {
        final List<Thread> operators = operator.world().operators();
        operators.get(operator.random().nextInt(operators.size())).interrupt();
    }

    private static void interruptThread(final Operator operator) {
        final Pipeline pipeline = operator.anyPipeline().pipeline();
        final List<Thread> handlers = pipeline.handlerThreads();
        final int chosen = operator.random().nextInt(1 + handlers.size());
        final Thread thread = chosen == 0 ? pipeline.pollerThread() : handlers.get(chosen - 1);
        // Null before the start of an agent.
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** A handler invokes its own pipeline: two of them that run each other's handlers would have no order. */
    private static void invokeAgent(final Operator operator) {
        if (operator.world().shape().agents()) {
            final PipelineUnderTest subject = operator.isHandler() ? operator.home() : operator.anyPipeline();
            AgentDriver.invoke(subject.pipeline(), operator.world().violations());
        }
    }

    private static void closeAgent(final Operator operator) {
        if (operator.world().shape().agents() && operator.random().nextInt(4) == 0) {
            final PipelineUnderTest subject = operator.isHandler() ? operator.home() : operator.anyPipeline();
            subject.closesAgent();
            operator.within(TimeUnit.SECONDS.toNanos(1), subject.name() + ": onClose", () -> {
                if (AgentDriver.close(subject.pipeline(), operator.world().violations()) && !operator.isHandler()) {
                    subject.ended();
                }
            });
        }
    }

    private static void watch(final Operator operator) {
        if (operator.world().context() != null) {
            final AsyncEvents.Subscription subscription =
                operator.anyPipeline().pipeline().watch(operator.world().context());
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
            subscription.close();
        }
    }
}
