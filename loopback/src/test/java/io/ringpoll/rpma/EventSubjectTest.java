package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.RawAddress;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which connection and which queue an asynchronous event refers to. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class EventSubjectTest {
    @Test
    void shouldBeSubjectOfTheEventsOfItsQueuePairAndQueuesOnly() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10));
            ConnectedPair plain = ConnectedPair.ofDefaults();
            VerbsCompletionQueue main = pair.client().completionQueue().openVerbs();
            VerbsCompletionQueue receives = pair.client().receiveCompletionQueue().orElseThrow().openVerbs()) {
            final Connection client = pair.client();
            final AsyncEvent ofPair = event(AsyncEventType.QP_FATAL, 0, client.queuePairNumber());
            final AsyncEvent ofMain = event(AsyncEventType.CQ_ERR, RawAddress.of(main), 0);
            final AsyncEvent ofReceives = event(AsyncEventType.CQ_ERR, RawAddress.of(receives), 0);
            final AsyncEvent ofDevice = event(AsyncEventType.DEVICE_FATAL, 0, client.queuePairNumber());
            assertNotEquals(ofMain, ofReceives);
            assertSubject("YYYN", client::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NNNN", pair.server()::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NNNN", plain.client()::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NYNN", client.completionQueue()::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NYNN", main::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NNYN", client.receiveCompletionQueue().get()::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
            assertSubject("NNYN", receives::isSubjectOf, ofPair, ofMain, ofReceives, ofDevice);
        }
    }

    @Test
    void shouldBeNoSubjectOnceItIsClosed() {
        final ConnectedPair pair = ConnectedPair.ofDefaults();
        final VerbsCompletionQueue view = pair.client().completionQueue().openVerbs();
        final AsyncEvent event = event(AsyncEventType.CQ_ERR, RawAddress.of(view), 0);
        view.close();
        assertSubject("NN", view::isSubjectOf, event, event(AsyncEventType.DEVICE_FATAL, 0, 0));
        pair.close();
    }

    private interface Subject {
        boolean isSubjectOf(AsyncEvent event);
    }

    private static void assertSubject(final String expected, final Subject subject, final AsyncEvent... events) {
        final StringBuilder found = new StringBuilder();
        for (final AsyncEvent event : events) {
            found.append(subject.isSubjectOf(event) ? 'Y' : 'N');
        }
        assertEquals(expected, found.toString());
    }

    private static AsyncEvent event(final AsyncEventType type, final long queueAddress, final int queuePairNumber) {
        return new AsyncEvent("device", type, queueAddress, queuePairNumber, 0);
    }
}
