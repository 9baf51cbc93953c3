package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of agents in docs/guide/pipeline.md and docs/guide/threads.md: they are the code of this class, and it runs. */
@Timeout(60)
class AgentPageTest {
    static final Path SOURCE = Path.of("src", "test", "java", "io", "ringpoll", "pipeline", "AgentPageTest.java");
    private static final Path PAGE = Path.of("..", "docs", "guide", "threads.md");
    private static final String SECTION = "## Threads of your own agents";
    private static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final AtomicReference<Thread> handling = new AtomicReference<>();

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        final String code = PipelinePageTest.normalized(Files.readString(SOURCE));
        final List<String> page = Files.readAllLines(PAGE);
        final List<String> section = page.subList(page.indexOf(SECTION) + 1, page.size());
        assertTrue(section.contains("```java"), "no example");
        boolean inExample = false;
        for (final String line : section) {
            if (line.startsWith("## ")) {
                return;
            }
            if (line.startsWith("```")) {
                inExample = line.equals("```java");
            } else if (inExample) {
                assertTrue(code.contains(PipelinePageTest.normalized(line)), () -> "not in this class: " + line);
            }
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldShareAThreadWithAnAgentOfTheProgram() {
        final ErrorHandler errorHandler = errors::add;
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection connection = pair.client();
            final Agent logic = new Session(connection);
            Pipeline pipeline = Pipeline.builder()
                .asAgent()
                .runToCompletion()
                .queue(connection.completionQueue())
                .onAll((wc, sequence, endOfBatch) -> received(wc))
                .start();
            AgentRunner runner = new AgentRunner(
                new BackoffIdleStrategy(), errorHandler, null, new CompositeAgent(pipeline.agent(), logic));
            AgentRunner.startOnThread(runner);
            while (handling.get() == null) {
                Thread.onSpinWait();
            }
            assertSame(runner.thread(), handling.get());
            runner.close();
            PipelineReport report = pipeline.close(TEN_SECONDS);
            assertTrue(report.inTime());
        }
        assertEquals(List.of(), errors);
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldPollInTheProgramsOwnLoop() {
        final ErrorHandler errorHandler = errors::add;
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Pipeline pipeline = Pipeline.builder().asAgent().runToCompletion().queue(pair.client().completionQueue())
                .onAll((wc, sequence, endOfBatch) -> received(wc)).start()) {
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            try (AgentInvoker invoker = new AgentInvoker(errorHandler, null, pipeline.agent())) {
                invoker.start();
                while (isRunning()) {
                    int workCount = invoker.invoke();
                    idle(workCount);
                }
                PipelineReport drained = pipeline.drain(TEN_SECONDS);
                assertTrue(drained.inTime());
            }
            assertSame(Thread.currentThread(), handling.get());
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldCountInTheProgramsManager() {
        final CountersManager countersManager = new ConcurrentCountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(256 * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(256 * CountersReader.COUNTER_LENGTH)));
        Pipeline pipeline = Pipeline.builder()
            .countersManager(countersManager)
            .onAll((wc, sequence, endOfBatch) -> received(wc))
            .start();
        assertTrue(countersManager.available() < 256);
        assertTrue(pipeline.close(TEN_SECONDS).inTime());
        assertEquals(256, countersManager.available());
    }

    private boolean isRunning() {
        return handling.get() == null;
    }

    private void idle(final int workCount) {
        if (workCount == 0) {
            Thread.onSpinWait();
        }
    }

    private void received(final WorkCompletion wc) {
        assertEquals(1, wc.workRequestId());
        handling.set(Thread.currentThread());
    }

    /** An agent of the program, which posts on the polling thread. */
    private static final class Session implements Agent {
        private final Connection connection;
        private boolean posted;

        Session(final Connection connection) {
            this.connection = connection;
        }

        @Override
        public int doWork() {
            if (posted) {
                return 0;
            }
            posted = connection.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1);
            return 1;
        }

        @Override
        public String roleName() {
            return "session";
        }
    }
}
