package io.ringpoll.verify.torture.connections;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultOperation;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The parts of a scene, drawn from its seed. "One in so many": 0 for never.
 *
 * @param server      the accepting set
 * @param clients     the requesting sets
 * @param connections number of requests, of all operators together
 * @param open        number of connections that operators leave open
 * @param operators   number of threads that request and close connections
 * @param messages    maximum number of messages of each side of a connection
 * @param answering   one in so many sides sends only answers to messages
 * @param refusing    one in so many messages is refused at first
 * @param retaining   one in so many messages is retained
 * @param holding     one in so many claims stays open for a while
 * @param throwing    one in so many callbacks throws
 * @param slow        one in so many callbacks is slow
 * @param closing     one in so many callbacks closes its connection
 * @param abrupt      one in so many requests is followed by the close of a connection of another thread, or has no time
 * @param vanishing   number of peers that end without a goodbye
 * @param setEnd      the end of a set before that of the scene
 * @param finish      the order in which the sets are closed
 * @param plan        faults; empty in most scenes
 */
record ConnectionShape(SetShape server, List<SetShape> clients, int connections, int open, int operators, int messages,
    int answering, int refusing, int retaining, int holding, int throwing, int slow, int closing, int abrupt, int vanishing,
    SetEnd setEnd, Finish finish, Optional<FaultPlan> plan) {
    private static final int MANY = 1000;
    private static final int FEW = 40;
    /** On other devices than the loopback device, whose tests run on an emulated CPU. */
    private static final int FEWEST = 8;
    private static final int MAX_LATE_NS = 3_000_000;
    private static final FaultKind[] HARMLESS = {
        FaultKind.DELAY, FaultKind.REORDER, FaultKind.SPURIOUS_EVENT, FaultKind.LATE_EVENT,
    };
    private static final FaultKind[] HARMFUL = {
        FaultKind.STATUS, FaultKind.STATUS, FaultKind.DISCONNECT, FaultKind.DISCONNECT, FaultKind.FULL, FaultKind.POLL,
    };

    private static final FaultOperation[] FAILING = {
        FaultOperation.SEND, FaultOperation.RECEIVE, FaultOperation.WRITE, FaultOperation.READ,
    };

    /** How a set ends in the middle of a scene. */
    enum SetEnd {
        NONE, CLOSED_AT_ONCE, CLOSED_IN_ORDER, CLOSED_BY_CALLBACK, PIPELINE_CLOSED
    }

    /** How the sets end at the end of a scene. */
    enum Finish {
        CLIENTS_FIRST, SERVER_FIRST, TOGETHER, AT_ONCE
    }

    static ConnectionShape draw(final SplittableRandom random, final boolean isLoopback) {
        final int connections = isLoopback ? drawConnections(random) : 1 + random.nextInt(FEWEST);
        final boolean many = connections > MANY / 4;
        final int pollers = 1 + Math.max(0, random.nextInt(4) - 1);
        final int sets = many ? 1 : 1 + Math.max(0, random.nextInt(4) - 1);
        final SetShape server = SetShape.draw(random, connections, pollers);
        final List<SetShape> clients =
            IntStream.range(0, sets).mapToObj(i -> SetShape.draw(random, connections, 1 + random.nextInt(2))).toList();
        return new ConnectionShape(server, clients, connections,
            random.nextBoolean() ? connections : 1 + random.nextInt(connections), 1 + random.nextInt(3),
            many ? random.nextInt(20) : random.nextInt(300), oneIn(random, 2, 4), oneIn(random, 2, 50), oneIn(random, 2, 20),
            oneIn(random, 3, 50), oneIn(random, 3, 100), oneIn(random, 3, 200), oneIn(random, 3, 2000), oneIn(random, 2, 10),
            random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 0,
            random.nextInt(5) == 0 ? draw(random, SetEnd.values()) : SetEnd.NONE, draw(random, Finish.values()),
            isLoopback && random.nextInt(4) == 0 ? Optional.of(drawPlan(random, connections)) : Optional.empty());
    }

    private static int drawConnections(final SplittableRandom random) {
        return switch (random.nextInt(20)) {
            case 0 -> MANY;
            case 1, 2 -> 1 + random.nextInt(MANY / 4);
            default -> 1 + random.nextInt(FEW);
        };
    }

    private static <T> T draw(final SplittableRandom random, final T[] values) {
        return values[random.nextInt(values.length)];
    }

    /** 0 in all but one of so many cases, else from 2 to the maximum. */
    private static int oneIn(final SplittableRandom random, final int cases, final int most) {
        return random.nextInt(cases) == 0 ? 2 + random.nextInt(most) : 0;
    }

    private static FaultPlan drawPlan(final SplittableRandom random, final int connections) {
        final FaultPlan.Builder builder = FaultPlan.builder().seed(random.nextLong());
        final boolean harmless = random.nextBoolean();
        for (int rules = 1 + random.nextInt(3); rules > 0; rules--) {
            final FaultKind kind = draw(random, harmless ? HARMLESS : HARMFUL);
            final FaultRule what = switch (kind) {
                case STATUS -> FaultRule.status(random.nextInt(WcStatus.LOC_LEN_ERR, WcStatus.GENERAL_ERR + 1),
                    draw(random, FAILING));
                case REORDER, FULL, POLL -> FaultRule.repeated(kind, 1 + random.nextInt(3));
                case DELAY, LATE_EVENT -> FaultRule.late(kind, 1 + random.nextInt(MAX_LATE_NS));
                default -> FaultRule.of(kind);
            };
            final int often = kind == FaultKind.POLL ? 20_000 : harmless ? 20 : 200;
            builder.rule(random.nextBoolean() ? what.oneIn(2 + random.nextInt(often)) :
                what.at(1 + random.nextInt(often)).ofObject(1 + random.nextInt(2 * connections)));
        }
        return builder.build();
    }

    /** Whether connections may fail. */
    boolean isHarmful() {
        return plan.isPresent() &&
            plan.get().rules().stream().anyMatch(rule -> List.of(HARMFUL).contains(rule.kind()));
    }

    /** Whether a receive may fail with a status that stands for a message which is too long for it: a violation of the peer. */
    boolean mayReceiveTooLong() {
        return plan.isPresent() && plan.get().rules().stream().anyMatch(rule -> rule.kind() == FaultKind.STATUS &&
            rule.operation() == FaultOperation.RECEIVE &&
            (rule.code() == WcStatus.LOC_LEN_ERR || rule.code() == WcStatus.LOC_QP_OP_ERR));
    }
}
