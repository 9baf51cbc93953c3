package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.ScriptedQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every public call with a time-out, found by reflection, while a handler blocks the polling thread. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TimeoutsTest {
    /** After these, other calls have nothing to wait for. */
    private static final Set<String> ENDS = Set.of("close", "stop");

    /** A call with a time-out as its last argument. */
    private record Call(Object target, Method method) {
        boolean ends() {
            return ENDS.contains(method.getName());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0})
    void shouldReturnWithoutDelayFromEachCallWithoutTime(final long timeoutNs) throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final ScriptedQueue queue = new ScriptedQueue("queue").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        final PipelineGroup group = PipelineGroup.start(1, index ->
            Pipeline.builder().withoutCountersFile().runToCompletion().onAll((wc, sequence, endOfBatch) -> {
                entered.countDown();
                release.await();
            }));
        try {
            group.addQueue(queue);
            entered.await();
            final List<Call> calls =
                Stream.concat(callsOf(group.pipelines().getFirst()), callsOf(group)).toList();
            assertTrue(calls.size() >= 9, calls::toString);
            for (final Call call : calls) {
                if (!call.ends()) {
                    assertNotInTime(call, queue, timeoutNs);
                }
            }
            for (final Call call : calls) {
                if (call.ends()) {
                    assertNotInTime(call, queue, timeoutNs);
                }
            }
        } finally {
            release.countDown();
        }
    }

    private static Stream<Call> callsOf(final Object target) {
        return Arrays.stream(target.getClass().getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getParameterCount() > 0 &&
                method.getParameterTypes()[method.getParameterCount() - 1] == long.class)
            .map(method -> new Call(target, method));
    }

    private static void assertNotInTime(final Call call, final ScriptedQueue queue, final long timeoutNs)
        throws IllegalAccessException {
        final Object[] arguments =
            call.method().getParameterCount() == 1 ? new Object[] {timeoutNs} : new Object[] {queue, timeoutNs};
        try {
            final Object result = call.method().invoke(call.target(), arguments);
            switch (result) {
                case final Boolean inTime -> assertFalse(inTime, call::toString);
                case final PipelineReport report -> assertFalse(report.inTime(), call::toString);
                case final List<?> reports ->
                    reports.forEach(report -> assertFalse(((PipelineReport) report).inTime(), call::toString));
                default -> throw new AssertionError(call + " returned " + result);
            }
        } catch (final InvocationTargetException thrown) {
            assertInstanceOf(TimeoutException.class, thrown.getCause(), call::toString);
        }
    }
}
