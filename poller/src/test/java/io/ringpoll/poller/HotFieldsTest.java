package io.ringpoll.poller;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HotFieldsTest {
    @Test
    void shouldPadTheHotFieldsOfThePoller() {
        FieldLayout.assertPadded(CompletionPoller.class, CompletionPollerHotFields.class);
    }
}
