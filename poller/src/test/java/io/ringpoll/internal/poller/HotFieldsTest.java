package io.ringpoll.internal.poller;

import io.ringpoll.poller.FieldLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HotFieldsTest {
    @Test
    void shouldPadTheHotFieldsOfThePoller() {
        FieldLayout.assertPadded(CompletionPoller.class, CompletionPollerHotFields.class);
    }
}
