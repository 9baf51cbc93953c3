package io.ringpoll.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.os.Errno;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Fault plans and their text. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FaultPlanTest {
    private static final int RANDOM_PLANS = 2_000;

    @ParameterizedTest
    @ValueSource(strings = {
        "status:rem-access-err:write@100",
        "seed=7,status:wr-flush-err@3#2,delay:2ms@~1000",
        "seed=-9,full:16@5+1000,rnr:3@~50,poll@7,poll:2@9,overrun@12#1",
        "disconnect@90+1000#3,reorder:20@1,spurious-event@~4,late-event:500ns@2",
        "call:ibv_reg_mr:ENOMEM@3,call:any:EIO@~100,call:rdma_accept:4000@1",
        "status:general-err:recv@9223372036854775807",
    })
    void shouldPrintTheTextThatItWasReadFrom(final String text) {
        assertEquals(text, FaultPlan.parse(text).toString());
    }

    @Test
    void shouldReadWhatItPrints() {
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < RANDOM_PLANS; i++) {
            final FaultPlan plan = randomPlan(random);
            assertEquals(plan, FaultPlan.parse(plan.toString()), plan::toString);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "\"\"|fault plan: '': a rule is KIND[:ARGUMENT...]@WHEN",
        "poll|fault plan: 'poll': a rule is KIND[:ARGUMENT...]@WHEN",
        "@1|fault plan: '@1': there is no such fault; there are status, full, rnr, *",
        "poll@#1|fault plan: 'poll@#1': '' is not a number from 1 to 9223372036854775807",
        "poll:1:2@1|fault plan: 'poll:1:2@1': its form is poll[:TIMES]",
        "status@1|fault plan: 'status@1': its form is status:STATUS[:OPERATION]",
        "status:fatal-err:send:x@1|fault plan: 'status:fatal-err:send:x@1': its form is status:STATUS[:OPERATION]",
        "delay:10001ms@1|fault plan: 'delay:10001ms@1': '10001ms' is longer than 10s",
        "delay:10000001us@1|fault plan: 'delay:10000001us@1': '10000001us' is longer than 10s",
        "poll@1@2|fault plan: 'poll@1@2': a rule is KIND[:ARGUMENT...]@WHEN",
        "poll@0|fault plan: 'poll@0': '0' is not a number from 1 to 9223372036854775807",
        "poll@-1|fault plan: 'poll@-1': '-1' is not a number from 1 to 9223372036854775807",
        "poll@+1|fault plan: 'poll@+1': '' is not a number from 1 to 9223372036854775807",
        "poll:2000@1|fault plan: 'poll:2000@1': '2000' is not a number from 1 to 1024",
        "poll@~x|fault plan: 'poll@~x': 'x' is not a number from 1 to 9223372036854775807",
        "poll@1#0|fault plan: 'poll@1#0': '0' is not a number from 1 to 2147483647",
        "seed=x,poll@1|fault plan: 'seed=x': 'x' is not a seed, a number of 64 bits",
        "delay:2@1|fault plan: 'delay:2@1': '2' is not a time, such as 500ns, 20us, 3ms or 1s",
        "delay:11s@1|fault plan: 'delay:11s@1': '11s' is longer than 10s",
        "delay@1|fault plan: 'delay@1': its form is delay:TIME",
        "disconnect:1@1|fault plan: 'disconnect:1@1': its form is disconnect",
        "call:ibv_reg_mr@1|fault plan: 'call:ibv_reg_mr@1': its form is call:FUNCTION:ERRNO, or call:any:ERRNO",
        "call:ibv_reg_mr:EFOO@1|fault plan: 'call:ibv_reg_mr:EFOO@1': 'EFOO' is not an errno, such as ENOMEM or 12",
        "call:a b:EIO@1|fault plan: 'call:a b:EIO@1': 'a b' is not the name of a function",
        "call:any:EIO@1#2|fault plan: 'call:any:EIO@1#2': calls belong to no object",
        "status:success@1|fault plan: 'status:success@1': 'success' is not a status of a failed operation; those are *",
        "status:fatal-err:nop@1|fault plan: 'status:fatal-err:nop@1': 'nop' is not an operation; those are any, send, write, *",
        "statuz:fatal-err@1|fault plan: 'statuz:fatal-err@1': there is no such fault; there are status, full, rnr, *",
    })
    void shouldRefuseABadTextInOneLine(final String text, final String message) {
        final String said = assertThrows(IllegalArgumentException.class, () -> FaultPlan.parse(text)).getMessage();
        assertEquals(1, said.lines().count(), said);
        if (message.endsWith("*")) {
            assertTrue(said.startsWith(message.substring(0, message.length() - 1)), said);
        } else {
            assertEquals(message, said);
        }
    }

    @Test
    void shouldShowLittleOfALongOrUnprintableText() {
        final String said = assertThrows(IllegalArgumentException.class, () -> FaultPlan.parse("x\n\u0007".repeat(500)))
            .getMessage();
        assertTrue(said.startsWith("fault plan: 'x??x??"), said);
        assertTrue(said.length() < 250, said);
    }

    @Test
    void shouldShowSixtyCharactersAndNoMore() {
        for (final int length : new int[] {60, 61}) {
            final String text = "x".repeat(length);
            final String said = assertThrows(IllegalArgumentException.class, () -> FaultPlan.parse(text)).getMessage();
            assertEquals(
                "fault plan: '" + "x".repeat(60) + (length > 60 ? "..." : "") + "': a rule is KIND[:ARGUMENT...]@WHEN", said);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"10s", "10000ms", "10000000us", "10000000000ns"})
    void shouldTakeTheLongestTimeInEveryUnit(final String time) {
        final FaultPlan plan = FaultPlan.parse("delay:" + time + "@1");
        assertEquals(FaultRule.MAX_DURATION_NS, plan.rules().getFirst().durationNs());
        assertEquals("delay:10s@1", plan.toString());
    }

    @Test
    void shouldTakeAsManyRulesAsTheDeviceHasRoomForAndNoMore() {
        final FaultRule rule = FaultRule.of(FaultKind.DISCONNECT);
        assertEquals(FaultPlan.MAX_RULES, new FaultPlan(1, Collections.nCopies(FaultPlan.MAX_RULES, rule)).rules().size());
        assertThrows(IllegalArgumentException.class, () -> new FaultPlan(1, Collections.nCopies(FaultPlan.MAX_RULES + 1, rule)));
        assertThrows(IllegalArgumentException.class, () -> new FaultPlan(1, List.of()));
        assertTrue(FaultPlan.builder().isEmpty());
        assertFalse(FaultPlan.builder().rule(rule).isEmpty());
    }

    @Test
    void shouldTakeTheLargestNumbersOfARule() {
        FaultRule.repeated(FaultKind.POLL, 1024);
        FaultRule.late(FaultKind.DELAY, 1);
        FaultRule.late(FaultKind.DELAY, FaultRule.MAX_DURATION_NS);
        FaultRule.call("a_90z".repeat(7) + "abcd", 4095);
        FaultRule.status(WcStatus.GENERAL_ERR, FaultOperation.SEND);
        FaultRule.status(1, FaultOperation.ANY);
    }

    @Test
    void shouldRefuseRulesThatNoDeviceCanFollow() {
        final FaultRule disconnect = FaultRule.of(FaultKind.DISCONNECT);
        assertRefused(() -> disconnect.at(-1), "a number is negative");
        assertRefused(() -> disconnect.every(-1), "a number is negative");
        assertRefused(() -> disconnect.oneIn(-1), "a number is negative");
        assertRefused(() -> disconnect.ofObject(-1), "a number is negative");
        assertRefused(() -> disconnect.at(0), "it triggers either at a number or one in so many");
        assertRefused(() -> rule(FaultKind.DISCONNECT, 0, 1, 0, "", 1, 1), "it triggers either at a number or one in so many");
        assertRefused(() -> disconnect.oneIn(5).every(2), "it triggers either");
        assertRefused(() -> FaultRule.repeated(FaultKind.POLL, 0), "times 0 is not from 1 to 1024");
        assertRefused(() -> FaultRule.repeated(FaultKind.POLL, 1025), "times 1025 is not from 1 to 1024");
        assertRefused(() -> FaultRule.repeated(FaultKind.DISCONNECT, 2), "disconnect has no times");
        assertRefused(() -> new FaultRule(FaultKind.POLL, FaultOperation.SEND, 0, 1, 0, "", 1, 0, 0, 0), "poll has no operation");
        assertRefused(() -> FaultRule.late(FaultKind.DELAY, 0), "by 0 ns is not possible");
        assertRefused(() -> FaultRule.late(FaultKind.DELAY, FaultRule.MAX_DURATION_NS + 1), "is not possible");
        assertRefused(() -> FaultRule.late(FaultKind.POLL, 1), "by 1 ns is not possible");
        assertRefused(() -> FaultRule.status(0, FaultOperation.ANY), "IBV_WC_SUCCESS is no status");
        assertRefused(() -> FaultRule.status(WcStatus.GENERAL_ERR + 1, FaultOperation.ANY), "is no status");
        assertRefused(() -> FaultRule.call("", 0), "0 is no errno");
        assertRefused(() -> FaultRule.call("", 4096), "4096 is no errno");
        assertRefused(() -> rule(FaultKind.DISCONNECT, 3, 1, 0, "", 1, 0), "disconnect has no code");
        assertRefused(() -> rule(FaultKind.DISCONNECT, 0, 1, 0, "f", 1, 0), "disconnect has no function");
        assertRefused(() -> FaultRule.call("a".repeat(40), 1), "is not the name of a function");
        for (final String name : new String[] {"A", "`", "{", "/", ":", "a b"}) {
            assertRefused(() -> FaultRule.call(name, 1), "is not the name of a function");
        }
        assertRefused(() -> FaultRule.call("", 1).ofObject(1), "calls belong to no object");
    }

    private static FaultRule rule(final FaultKind kind, final int code, final int times, final long durationNs,
        final String function, final long at, final long oneIn) {
        return new FaultRule(kind, FaultOperation.ANY, code, times, durationNs, function, at, 0, oneIn, 0);
    }

    private static void assertRefused(final Executable making, final String reason) {
        final String said = assertThrows(IllegalArgumentException.class, making).getMessage();
        assertTrue(said.contains(reason), said);
    }

    @Test
    void shouldStrikeAtItsNumberAndAgain() {
        final FaultPlan plan = FaultPlan.parse("status:fatal-err:send@3+4,poll:2@5#2,disconnect@2");
        final List<Long> triggered = new ArrayList<>();
        for (long n = 1; n <= 12; n++) {
            if (plan.trigger(FaultKind.STATUS, FaultOperation.SEND, 9, n).isPresent()) {
                triggered.add(n);
            }
            assertFalse(plan.trigger(FaultKind.STATUS, FaultOperation.WRITE, 9, n).isPresent());
            assertEquals(n == 5 || n == 6, plan.trigger(FaultKind.POLL, FaultOperation.ANY, 2, n).isPresent());
            assertFalse(plan.trigger(FaultKind.POLL, FaultOperation.ANY, 1, n).isPresent());
        }
        assertEquals(List.of(3L, 7L, 11L), triggered);
        assertEquals(Optional.of(plan.rules().get(2)), plan.trigger(FaultKind.DISCONNECT, FaultOperation.ANY, 1, 2));
    }

    @Test
    void shouldNotBeginARepetitionBeforeTheFirstOperation() {
        for (long seed = 1; seed <= 50; seed++) {
            final FaultPlan once = FaultPlan.parse("seed=" + seed + ",poll@~2");
            final FaultPlan repeated = FaultPlan.parse("seed=" + seed + ",poll:1024@~2");
            assertEquals(once.trigger(FaultKind.POLL, FaultOperation.ANY, 1, 1).isPresent(),
                repeated.trigger(FaultKind.POLL, FaultOperation.ANY, 1, 1).isPresent(), "seed " + seed);
        }
    }

    @Test
    void shouldDrawFromTheSeedAlone() {
        final FaultPlan plan = FaultPlan.parse("seed=5,disconnect@~100");
        final FaultPlan again = FaultPlan.parse(plan.toString());
        int triggered = 0;
        int differing = 0;
        for (long n = 1; n <= 100_000; n++) {
            final boolean triggers = plan.trigger(FaultKind.DISCONNECT, FaultOperation.ANY, 1, n).isPresent();
            triggered += triggers ? 1 : 0;
            assertEquals(triggers, again.trigger(FaultKind.DISCONNECT, FaultOperation.ANY, 1, n).isPresent());
            differing += triggers != plan.trigger(FaultKind.DISCONNECT, FaultOperation.ANY, 2, n).isPresent() ? 1 : 0;
        }
        assertTrue(triggered > 800 && triggered < 1200, triggered + " of 100,000");
        assertTrue(differing > 1000, differing + " differ between two objects");
    }

    static FaultPlan randomPlan(final SplittableRandom random) {
        final FaultPlan.Builder builder = FaultPlan.builder();
        if (random.nextBoolean()) {
            assertSame(builder, builder.seed(random.nextLong()));
        }
        for (int rules = random.nextInt(1, 6); rules > 0; rules--) {
            final FaultKind kind = FaultKind.values()[random.nextInt(FaultKind.values().length)];
            final FaultRule what = switch (kind) {
                case STATUS -> FaultRule.status(random.nextInt(1, WcStatus.GENERAL_ERR + 1),
                    FaultOperation.values()[random.nextInt(FaultOperation.values().length)]);
                case FULL, RECEIVER_NOT_READY, POLL, REORDER ->
                    FaultRule.repeated(kind, random.nextInt(1, FaultRule.MAX_TIMES + 1));
                case DELAY, LATE_EVENT -> FaultRule.late(kind, random.nextLong(1, FaultRule.MAX_DURATION_NS + 1));
                case CALL -> FaultRule.call(random.nextBoolean() ? "" : "ibv_reg_mr", random.nextInt(1, 4096));
                default -> FaultRule.of(kind);
            };
            final FaultRule when = random.nextBoolean() ? what.oneIn(random.nextLong(1, Long.MAX_VALUE)) :
                what.at(random.nextLong(1, Long.MAX_VALUE)).every(random.nextLong(Long.MAX_VALUE));
            builder.rule(kind == FaultKind.CALL ? when : when.ofObject(random.nextInt(0, Integer.MAX_VALUE)));
        }
        return builder.build();
    }

    @Test
    void shouldNameEveryErrno() {
        for (int errno = 1; errno < 134; errno++) {
            final FaultRule rule = FaultRule.call("", errno);
            assertEquals(FaultPlan.builder().rule(rule).build(), FaultPlan.parse(rule.toString()), Errno.name(errno));
        }
    }
}
