package io.ringpoll.bench.handoff;

import java.util.Arrays;

/** The fields of {@link EventPool}, between its paddings. */
abstract class EventPoolFields extends Padding {
    final CompletionEvent[] events;
    int next;
    long record;

    EventPoolFields(final int length) {
        events = new CompletionEvent[length];
        Arrays.setAll(events, unused -> new CompletionEvent());
    }
}
