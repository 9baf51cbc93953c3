package io.ringpoll.pipeline;

import io.ringpoll.poller.FieldLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HotFieldsTest {
    @Test
    void shouldPadThePositionsOfTheRing() {
        FieldLayout.assertPadded(CompletionRing.class, CompletionRingPositions.class);
    }
}
