package io.ringpoll.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.OtherThread;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An end that cannot be brought to its end: nothing is freed under a thread's hands, and nothing is lost. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class NativeResourceTest {
    private static final long ADDRESS = 0x1000;

    @Test
    void shouldCloseAtTheSecondTryWhatACallIntoCHeldUpAtTheFirst() throws InterruptedException {
        final Resource needed = new Resource("what it needs");
        final Resource resource = new Resource("the resource");
        resource.needs(needed);
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final HotCalls calls = HotCalls.register();
        try {
            final OtherThread<Void> caller = OtherThread.run(() -> {
                calls.enter();
                inside.countDown();
                assertTrue(goOn.await(30, TimeUnit.SECONDS));
                calls.leave();
                return null;
            });
            assertTrue(inside.await(10, TimeUnit.SECONDS));
            final IllegalStateException heldUp = assertThrows(IllegalStateException.class, resource::close);
            assertTrue(heldUp.getMessage().startsWith("a call into C has not returned for 10 s"), heldUp::getMessage);
            assertTrue(resource.isClosed(), "it must not be used any more");
            assertEquals(0, resource.destroyedAddress, "freed while a call is inside");
            assertThrows(IllegalStateException.class, needed::close);
            goOn.countDown();
            caller.result();
            resource.close();
            assertEquals(ADDRESS, resource.destroyedAddress);
            resource.close();
            assertEquals(1, resource.timesDestroyed);
            needed.close();
        } finally {
            calls.discard();
        }
    }

    @Test
    void shouldNotFreeWhatSomethingWasMadeOfWhileItWasClosing() {
        final Resource late = new Resource("a late comer");
        final Resource resource = new Resource("the resource") {
            @Override
            protected void endParts() {
                if (!late.isClosed()) {
                    late.needs(this);
                }
            }
        };
        final IllegalStateException refused = assertThrows(IllegalStateException.class, resource::close);
        assertEquals("the resource cannot be closed before what was made of it: a late comer", refused.getMessage());
        assertEquals(0, resource.destroyedAddress);
        late.close();
        resource.close();
        assertEquals(ADDRESS, resource.destroyedAddress);
    }

    @Test
    void shouldStayOpenIfSomethingNeedsIt() {
        final Resource needed = new Resource("what it needs");
        final Resource resource = new Resource("the resource");
        resource.needs(needed);
        assertThrows(IllegalStateException.class, needed::close);
        assertFalse(needed.isClosed());
        resource.close();
        needed.close();
        assertEquals(ADDRESS, needed.destroyedAddress);
    }

    private static class Resource extends NativeResource {
        private long destroyedAddress;
        private int timesDestroyed;

        Resource(final String name) {
            super(name, ADDRESS);
        }

        final void needs(final NativeResource other) {
            dependsOn(other);
        }

        @Override
        protected boolean usedInHotCalls() {
            return true;
        }

        @Override
        protected void destroy(final long lastAddress) {
            destroyedAddress = lastAddress;
            timesDestroyed++;
        }
    }
}
