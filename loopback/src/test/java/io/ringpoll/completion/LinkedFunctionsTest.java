package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The moment in which the functions of libibverbs are linked: it takes milliseconds, on an emulated CPU minutes. */
@Timeout(120)
class LinkedFunctionsTest {
    private static final String OPENED = "opened";

    /** Opens the queue below a queue of librpma, as an event-driven poller does. */
    static final class OpeningProgram {
        private static final PrintStream OUT = System.out;

        private OpeningProgram() {
        }

        /** No arguments. */
        public static void main(final String[] args) {
            try (ConnectedPair pair = ConnectedPair.ofDefaults();
                VerbsCompletionQueue queue = pair.client().completionQueue().openVerbs()) {
                OUT.println(OPENED);
                queue.requestNotification(false);
            }
        }
    }

    @Test
    void shouldLinkTheFunctionsOfEventsWhenAQueueIsOpenedAndNotByThePoller() {
        TestDevice.address();
        final String output = JavaProcess.create().option("-Xlog:class+init=info:stdout").run(OpeningProgram.class);
        final int opened = output.indexOf('\n' + OPENED);
        final int linked = output.indexOf("io/ringpoll/completion/FfmVerbsFunctions'");
        assertTrue(linked >= 0 && opened > linked, () -> "linked at " + linked + ", opened at " + opened);
    }
}
