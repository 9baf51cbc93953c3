package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.ScriptedQueue;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters in the user's manager. */
@Timeout(60)
class CountersManagerTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int HANDLED_TYPE = 10_201;
    private static final Pattern FULL = Pattern.compile("pipeline full needs ([0-9]+) counters, but the countersManager has " +
        "room for 20: enlarge its metadata buffer by ([0-9]+) bytes and its values buffer by ([0-9]+) bytes \\(.*\\)");

    private final CountersManager manager = manager(1024);
    private final AtomicCounter before = manager.newCounter("of the user");
    private final ScriptedQueue queue = new ScriptedQueue("queue");

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountInTheUsersManagerUntilTheClose(final boolean runsToCompletion) throws Exception {
        final PipelineBuilder description = Pipeline.builder().name("p").countersManager(manager).queue(queue)
            .onAll((wc, sequence, endOfBatch) -> { }, options -> options.name("handler"));
        final Pipeline pipeline = (runsToCompletion ? description.runToCompletion() : description).start();
        assertNull(pipeline.countersFile());
        add(5);
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertEquals(List.of("handler: completions handled = 5"), labels(HANDLED_TYPE));
        assertTrue(labels().size() > 30, labels()::toString);
        assertEquals(5, pipeline.counters().sum("handled_completions"));
        assertEquals(0, pipeline.counters().sum("lag_slots"));
        assertEquals("handler", pipeline.counters().values().stream().filter(counter -> counter.name().equals("passed_slots"))
            .findFirst().orElseThrow().attributes().get("handler"));
        add(2);
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertEquals(List.of("of the user = 0"), labels());
        // The memory belongs to other counters now.
        for (int i = 0; i < 200; i++) {
            manager.newCounter("later").set(1_000_000);
        }
        pipeline.removeQueue(queue);
        pipeline.close();
        assertEquals(7, pipeline.counters().sum("handled_completions"));
        assertEquals(7, pipeline.pollerCounters().completions());
        assertEquals(0, pipeline.handlerExceptions());
        assertEquals(200, labels().stream().filter("later = 1000000"::equals).count());
        assertEquals(0, before.get());
    }

    @Test
    void shouldKeepTheCountersOfAThreadThatHasNotEnded() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = Pipeline.builder().countersManager(manager).queue(queue)
            .onAll((wc, sequence, endOfBatch) -> {
                entered.countDown();
                release.await();
            }, options -> options.name("handler")).start();
        add(1);
        entered.await();
        pipeline.stop(0);
        assertEquals(List.of("handler: completions handled = 0"), labels(HANDLED_TYPE));
        release.countDown();
        while (labels().size() > 1) {
            Thread.sleep(1);
        }
        assertEquals(1, pipeline.counters().sum("handled_completions"));
    }

    @Test
    void shouldFreeTheCountersOfAnAgentThatWasNeverStarted() {
        final Pipeline pipeline =
            Pipeline.builder().countersManager(manager).asAgent().onAll((wc, sequence, last) -> { }).start();
        assertTrue(labels().size() > 30);
        pipeline.close();
        assertEquals(1, labels().size());
        final Pipeline second =
            Pipeline.builder().countersManager(manager).asAgent().runToCompletion().onAll((wc, sequence, last) -> { }).start();
        try (AgentInvoker invoker = new AgentInvoker(Throwable::printStackTrace, null, second.agent())) {
            invoker.start();
            invoker.invoke();
            assertTrue(labels().size() > 30);
        }
        second.close();
        assertEquals(1, labels().size());
    }

    @Test
    void shouldLeaveNothingInAManagerThatIsFullOrAfterAFailedStart() {
        final CountersManager small = manager(20);
        final PipelineBuilder tooMany =
            Pipeline.builder().name("full").countersManager(small).onAll((wc, sequence, endOfBatch) -> { });
        final String refusal = assertThrows(IllegalStateException.class, tooMany::start).getMessage();
        assertEquals(20, small.available());
        final Matcher numbers = FULL.matcher(refusal);
        assertTrue(numbers.matches(), refusal);
        final int needed = Integer.parseInt(numbers.group(1));
        assertEquals((needed - 20) * CountersReader.METADATA_LENGTH, Integer.parseInt(numbers.group(2)));
        assertEquals((needed - 20) * CountersReader.COUNTER_LENGTH, Integer.parseInt(numbers.group(3)));
        final CountersManager enough = manager(needed);
        final Pipeline pipeline =
            Pipeline.builder().countersManager(enough).onAll((wc, sequence, endOfBatch) -> { }).start();
        assertEquals(0, enough.available());
        pipeline.close();
        final PipelineBuilder unwilling = Pipeline.builder().countersManager(manager).onAll(new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                throw new IllegalStateException("unwilling");
            }
        });
        assertThrows(PipelineStartException.class, unwilling::start);
        assertEquals(List.of("of the user = 0"), labels());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCloseCompletelyAfterTheProgramHasFreedACounterOfThePipeline(final boolean reused) throws Exception {
        final List<Throwable> errors = new CopyOnWriteArrayList<>();
        final ObjectName name = new ObjectName("io.ringpoll:type=Pipeline,name=\"freed\"");
        final Pipeline pipeline = Pipeline.builder().name("freed").countersManager(manager).exportToJmx().queue(queue)
            .errorHandler(errors::add).onAll((wc, sequence, endOfBatch) -> { }, options -> options.name("handler")).start();
        assertTrue(ManagementFactory.getPlatformMBeanServer().isRegistered(name));
        add(5);
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        final int[] freed = {-1};
        manager.forEach((id, typeId, key, label) -> freed[0] = typeId == HANDLED_TYPE ? id : freed[0]);
        manager.free(freed[0]);
        if (reused) {
            assertEquals(freed[0], manager.newCounter("another one").id());
        }
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertEquals(reused ? List.of("of the user = 0", "another one = 0") : List.of("of the user = 0"), labels());
        assertFalse(ManagementFactory.getPlatformMBeanServer().isRegistered(name));
        assertEquals(reused ? 0 : 5, pipeline.counters().sum("handled_completions"));
        assertEquals(1, errors.size());
        assertTrue(errors.getFirst().getMessage().startsWith("the program has freed 1 of the pipeline's "), errors::toString);
    }

    @Test
    void shouldRefuseAFileAndAManager() {
        final PipelineBuilder description = Pipeline.builder().countersManager(manager).countersFolder(Path.of("target"))
            .onAll((wc, sequence, endOfBatch) -> { });
        assertEquals("there are a counters folder and a counters manager: set one of them",
            assertThrows(IllegalArgumentException.class, description::start).getMessage());
    }

    private static CountersManager manager(final int counters) {
        return new ConcurrentCountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(counters * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(counters * CountersReader.COUNTER_LENGTH)));
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    private List<String> labels() {
        return labels(-1);
    }

    /** The allocated counters of a type, or of all for -1. */
    private List<String> labels(final int wanted) {
        final List<String> labels = new ArrayList<>();
        manager.forEach((id, typeId, key, label) -> {
            if (wanted < 0 || typeId == wanted) {
                labels.add(label + " = " + manager.getCounterValue(id));
            }
        });
        return labels;
    }
}
