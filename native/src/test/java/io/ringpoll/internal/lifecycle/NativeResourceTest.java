package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.KernelThread;
import io.ringpoll.testing.OtherThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A failing close: no memory in use is freed, and nothing is lost. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class NativeResourceTest {
    private static final long ADDRESS = 0x1000;
    /** More than a thread that spins has for other reasons, such as safepoints. */
    private static final long SLEEPS = 20;

    @Test
    void shouldCloseAtTheSecondTryIfACallIntoCBlockedTheFirst() throws InterruptedException {
        final Resource needed = new Resource("a dependency");
        final Resource resource = new Resource("the resource");
        resource.needs(needed);
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final HotCalls calls = HotCalls.register(HotCaller.class);
        try {
            final OtherThread<Void> caller = OtherThread.run(() -> HotCaller.call(calls, mark -> {
                inside.countDown();
                assertTrue(goOn.await(30, TimeUnit.SECONDS));
                return null;
            }));
            assertTrue(inside.await(30, TimeUnit.SECONDS));
            Thread.currentThread().interrupt();
            final IllegalStateException heldUp = assertThrows(IllegalStateException.class, resource::close);
            assertTrue(Thread.interrupted(), "the interrupt is lost");
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
    void shouldDestroyWhatCHasCreatedIfItsObjectCannotBeMade() {
        final List<Long> destroyed = new ArrayList<>();
        final OutOfMemoryError failure = new OutOfMemoryError("a trial");
        assertSame(failure, assertThrows(OutOfMemoryError.class, () -> NativeResource.take(ADDRESS, address -> {
            throw failure;
        }, destroyed::add)));
        assertEquals(List.of(ADDRESS), destroyed);
        try (Resource made = NativeResource.take(ADDRESS, address -> new Resource("the resource"), destroyed::add)) {
            assertFalse(made.isClosed());
        }
        assertEquals(1, destroyed.size());
    }

    @Test
    void shouldNotFreeAnObjectThatGotADependentDuringItsClose() {
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
        assertEquals("the resource cannot be closed before its dependents: a late comer", refused.getMessage());
        assertEquals(0, resource.destroyedAddress);
        late.close();
        resource.close();
        assertEquals(ADDRESS, resource.destroyedAddress);
    }

    @Test
    void shouldStayOpenIfSomethingNeedsIt() {
        final Resource needed = new Resource("a dependency");
        final Resource resource = new Resource("the resource");
        resource.needs(needed);
        assertThrows(IllegalStateException.class, needed::close);
        assertFalse(needed.isClosed());
        resource.close();
        needed.close();
        assertEquals(ADDRESS, needed.destroyedAddress);
    }

    @Test
    void shouldNameThreeDependentsAndTheNumberOfTheOthers() {
        final Resource needed = new Resource("it");
        final List<String> shown = List.of("a", "a, b", "a, b, c", "a, b, c and 1 more", "a, b, c and 2 more");
        final List<Resource> dependents = new ArrayList<>();
        for (int i = 0; i < shown.size(); i++) {
            final Resource dependent = new Resource("abcde".substring(i, i + 1));
            dependent.needs(needed);
            dependents.add(dependent);
            assertEquals("it cannot be closed before its dependents: " + shown.get(i),
                assertThrows(IllegalStateException.class, needed::close).getMessage());
        }
        dependents.forEach(Resource::close);
        needed.close();
    }

    @Test
    void shouldForgetNoDependentThatSeveralThreadsName() {
        final int rounds = 100;
        final int perThread = 200;
        for (int round = 0; round < rounds; round++) {
            final Resource resource = new Resource("the resource");
            final List<Resource> needed = IntStream.range(0, 2 * perThread).mapToObj(i -> new Resource("needed " + i)).toList();
            final CyclicBarrier start = new CyclicBarrier(2);
            final OtherThread<Void> other = OtherThread.run(() -> needAll(resource, needed.subList(0, perThread), start));
            needAll(resource, needed.subList(perThread, 2 * perThread), start);
            other.result();
            resource.close();
            needed.forEach(Resource::close);
        }
    }

    @Test
    void shouldLeaveTheHotPathAloneWhenADependentStopsAClose() {
        final Resource resource = new Resource("the resource");
        final AtomicBoolean isOver = new AtomicBoolean();
        final OtherThread<Boolean> poller = OtherThread.run(() -> {
            boolean isOpen = true;
            while (isOpen && !isOver.get()) {
                isOpen = resource.hotAddress() == ADDRESS;
            }
            return isOpen;
        });
        for (int round = 0; round < 500; round++) {
            final Resource late = new Resource("a late comer");
            final CountDownLatch inside = new CountDownLatch(1);
            final OtherThread<Void> caller = OtherThread.run(() -> resource.whileInside(() -> {
                inside.countDown();
                awaitTrue(resource::isClosed);
                late.needs(resource);
                return null;
            }));
            awaitOpen(inside);
            assertThrows(IllegalStateException.class, resource::close);
            assertFalse(resource.isClosed());
            caller.result();
            late.close();
        }
        isOver.set(true);
        assertTrue(poller.result(), "a poll would have taken the queue for failed");
        resource.close();
    }

    @Test
    void shouldReturnFromASecondCloseWhenTheObjectIsFreed() {
        final CountDownLatch destroying = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final Resource resource = new Resource("the resource") {
            @Override
            protected void endParts() {
                destroying.countDown();
                awaitOpen(goOn);
            }
        };
        final OtherThread<Void> first = OtherThread.run(() -> {
            resource.close();
            return null;
        });
        awaitOpen(destroying);
        final OtherThread<Long> second = OtherThread.run(() -> {
            resource.close();
            return resource.destroyedAddress;
        });
        second.requireParked();
        goOn.countDown();
        assertEquals(ADDRESS, second.result());
        first.result();
        assertEquals(1, resource.timesDestroyed);
    }

    @Test
    void shouldNeitherSpinNorForgetTheInterruptWhenAnInterruptedThreadCloses() {
        final Resource resource = new Resource("the resource");
        final CountDownLatch inside = new CountDownLatch(1);
        final AtomicReference<KernelThread> closing = new AtomicReference<>();
        final OtherThread<Void> caller = OtherThread.run(() -> resource.whileInside(() -> {
            inside.countDown();
            awaitTrue(resource::isClosed);
            awaitSleeps(closing.get());
            return null;
        }));
        awaitOpen(inside);
        final OtherThread<Boolean> closer = OtherThread.run(() -> {
            closing.set(KernelThread.current());
            Thread.currentThread().interrupt();
            resource.close();
            return Thread.interrupted();
        });
        caller.result();
        assertTrue(closer.result(), "the interrupt is lost");
        assertEquals(ADDRESS, resource.destroyedAddress);
    }

    @Test
    void shouldCloseAtTheSecondTryAfterAnExceptionOfAPart() {
        final Resource needed = new Resource("a dependency");
        final Resource resource = new Resource("the resource") {
            private boolean failed;

            @Override
            protected void endParts() {
                if (!failed) {
                    failed = true;
                    throw new UnsupportedOperationException("the first time");
                }
            }
        };
        resource.needs(needed);
        assertThrows(UnsupportedOperationException.class, resource::close);
        assertEquals(0, resource.timesDestroyed);
        resource.close();
        assertEquals(1, resource.timesDestroyed);
        needed.close();
    }

    @Test
    void shouldReleaseItsDependenciesIfItCannotBeFreed() {
        final Resource needed = new Resource("a dependency");
        final Resource resource = new Resource("the resource") {
            @Override
            protected void destroy(final long lastAddress) {
                throw new UnsupportedOperationException("it stays");
            }
        };
        resource.needs(needed);
        assertThrows(UnsupportedOperationException.class, resource::close);
        resource.close();
        needed.close();
    }

    private static Void needAll(final Resource resource, final List<Resource> needed, final CyclicBarrier start) {
        try {
            start.await(30, TimeUnit.SECONDS);
        } catch (final InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new AssertionError(e);
        }
        needed.forEach(resource::needs);
        return null;
    }

    private static void awaitOpen(final CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitTrue(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(30));
            Thread.onSpinWait();
        }
    }

    /** Waits until a thread has slept some times, however long it has to wait for its CPU in between. */
    private static void awaitSleeps(final KernelThread thread) throws InterruptedException {
        final long startNs = System.nanoTime();
        final long before = thread.state().orElseThrow().voluntarySwitches();
        while (thread.state().orElseThrow().voluntarySwitches() - before <= SLEEPS) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(8), "the wait spins");
            Thread.sleep(1);
        }
    }

    private static class Resource extends NativeResource {
        private volatile long destroyedAddress;
        private volatile int timesDestroyed;

        Resource(final String name) {
            super(name, ADDRESS);
        }

        final <T> T whileInside(final Callable<T> action) throws Exception {
            enter();
            try {
                return action.call();
            } finally {
                exit();
            }
        }

        final long hotAddress() {
            return addressOrZero();
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
