package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.lifecycle.Owner;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The context of a device: its attributes, and when two are the same. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsContextTest {
    @Test
    void shouldBeEqualToOneOfTheSameDevice() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Peer other = Peer.of(peer.context())) {
            final VerbsContext context = peer.context();
            final VerbsContext same = VerbsContext.of(context.address(), Owner.PROCESS);
            assertEquals(context, same);
            assertEquals(context.hashCode(), same.hashCode());
            assertNotEquals(0, context.hashCode());
            assertEquals(context, other.context());
            assertFalse(context.equals(null));
            assertFalse(context.equals(context.name()));
            assertEquals(context.name(), context.toString());
            assertFalse(context.name().isEmpty());
            assertTrue(context.asyncFd() > 2, () -> "descriptor " + context.asyncFd());
            assertEquals("peer " + context.name(), other.name());
        }
    }
}
