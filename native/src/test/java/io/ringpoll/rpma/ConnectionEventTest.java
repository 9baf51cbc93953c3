package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class ConnectionEventTest {
    @ParameterizedTest
    @EnumSource
    void shouldBeFoundByItsValue(final ConnectionEvent event) {
        assertEquals(event, ConnectionEvent.of(event.value()));
    }

    @Test
    void shouldBeUndefinedForAValueThatIsNotKnown() {
        assertEquals(ConnectionEvent.UNDEFINED, ConnectionEvent.of(99));
        assertEquals(ConnectionEvent.UNDEFINED, ConnectionEvent.of(-2));
    }
}
