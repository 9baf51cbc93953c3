package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReorderBufferTest {
    private static final int CAPACITY = 8;

    private final List<Integer> delivered = new ArrayList<>();

    /** Delivers as a link does. */
    private static void deliver(final ReorderBuffer<Integer> buffer, final Consumer<Integer> receiver) {
        Integer next;
        synchronized (buffer) {
            next = buffer.claim();
        }
        while (next != null) {
            receiver.accept(next);
            synchronized (buffer) {
                next = buffer.next();
            }
        }
    }

    private static List<Integer> upTo(final int end) {
        return IntStream.range(0, end).boxed().toList();
    }

    /** Calls a receiver with each order of the elements. */
    private static void permute(final List<Integer> order, final List<Integer> left, final Consumer<List<Integer>> receiver) {
        if (left.isEmpty()) {
            receiver.accept(order);
        }
        for (final Integer first : left) {
            final List<Integer> longer = new ArrayList<>(order);
            longer.add(first);
            permute(longer, left.stream().filter(other -> !other.equals(first)).toList(), receiver);
        }
    }

    private static List<ReorderBuffer.Place<Integer>> reserve(final ReorderBuffer<Integer> buffer, final int count) {
        return IntStream.range(0, count).mapToObj(i -> buffer.reserve()).toList();
    }

    @Test
    void shouldDeliverInTheOrderOfPlacesForEveryOrderOfCompletion() {
        final int messages = 6;
        permute(List.of(), upTo(messages), order -> {
            final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
            final List<ReorderBuffer.Place<Integer>> places = reserve(buffer, messages);
            delivered.clear();
            int complete = 0;
            for (int i = 0; i < messages; i++) {
                places.get(order.get(i)).fill(order.get(i));
                deliver(buffer, delivered::add);
                while (order.subList(0, i + 1).contains(complete)) {
                    complete++;
                }
                assertEquals(upTo(complete), delivered, () -> "completed in the order " + order);
            }
            assertTrue(buffer.isIdle());
        });
    }

    @Test
    void shouldDeliverShortMessagesBehindALongOneWithIt() {
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        final ReorderBuffer.Place<Integer> longOne = buffer.reserve();
        buffer.reserve().fill(1);
        buffer.reserve().fill(2);
        deliver(buffer, delivered::add);
        assertEquals(List.of(), delivered);
        longOne.fill(0);
        deliver(buffer, delivered::add);
        assertEquals(upTo(3), delivered);
    }

    @Test
    void shouldNotBeIdleBeforeTheLastMessageIsDelivered() {
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        assertTrue(buffer.isIdle());
        final ReorderBuffer.Place<Integer> place = buffer.reserve();
        assertFalse(buffer.isIdle(), "a message is open");
        place.fill(0);
        assertEquals(0, buffer.claim());
        assertFalse(buffer.isIdle(), "a message is being delivered");
        assertNull(buffer.next());
        assertTrue(buffer.isIdle());
    }

    @Test
    void shouldLetOneThreadDeliverAtATime() {
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        buffer.reserve().fill(0);
        buffer.reserve().fill(1);
        assertEquals(0, buffer.claim());
        assertNull(buffer.claim());
        assertEquals(1, buffer.next());
        assertNull(buffer.claim());
        buffer.reserve().fill(2);
        assertEquals(2, buffer.next());
        assertNull(buffer.next());
        buffer.reserve().fill(3);
        assertEquals(3, buffer.claim());
    }

    @Test
    void shouldSkipNoMessageWhenADeliveryFails() {
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        final List<ReorderBuffer.Place<Integer>> places = reserve(buffer, 4);
        for (int i = 0; i < 3; i++) {
            places.get(i).fill(i);
        }
        assertThrows(IllegalStateException.class, () -> deliver(buffer, message -> {
            if (message == 1) {
                throw new IllegalStateException("on purpose");
            }
            delivered.add(message);
        }));
        places.get(3).fill(3);
        deliver(buffer, delivered::add);
        assertEquals(List.of(0), delivered);
        assertFalse(buffer.isIdle());
    }

    @Test
    void shouldDeliverNothingAfterItWasCleared() {
        for (int deliveredBefore = 0; deliveredBefore < 4; deliveredBefore++) {
            final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
            final List<ReorderBuffer.Place<Integer>> places = reserve(buffer, 5);
            for (int i = 0; i < 4; i++) {
                places.get(i).fill(i);
            }
            final int last = deliveredBefore;
            delivered.clear();
            deliver(buffer, message -> {
                delivered.add(message);
                if (message == last) {
                    buffer.clear();
                }
            });
            // A read that ends after its link.
            places.get(4).fill(4);
            deliver(buffer, delivered::add);
            assertEquals(upTo(last + 1), delivered);
        }
    }

    @Test
    void shouldHoldNoMoreMessagesThanCredits() {
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        final List<ReorderBuffer.Place<Integer>> places = reserve(buffer, CAPACITY);
        assertThrows(IllegalStateException.class, buffer::reserve);
        places.getFirst().fill(0);
        assertEquals(0, buffer.claim());
        buffer.reserve();
        assertThrows(IllegalStateException.class, buffer::reserve);
    }

    /** One thread receives, another completes the long messages in any order; both deliver, as the threads of a link do. */
    @Test
    void shouldDeliverInOrderOnTwoThreads() throws Exception {
        final int messages = 50_000;
        final ReorderBuffer<Integer> buffer = new ReorderBuffer<>(CAPACITY);
        final Semaphore credits = new Semaphore(CAPACITY);
        final CountDownLatch left = new CountDownLatch(messages);
        final Consumer<Integer> receiver = message -> {
            delivered.add(message);
            left.countDown();
            credits.release();
        };
        final LinkedBlockingQueue<Runnable> reads = new LinkedBlockingQueue<>();
        final Thread reader = Thread.ofPlatform().start(() -> complete(reads, buffer, receiver));
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < messages; i++) {
            credits.acquire();
            receive(i, random.nextInt(4) == 0, buffer, reads, receiver);
        }
        left.await();
        reader.interrupt();
        reader.join();
        assertEquals(upTo(messages), delivered);
    }

    private static void receive(final int message, final boolean isLong, final ReorderBuffer<Integer> buffer,
        final LinkedBlockingQueue<Runnable> reads, final Consumer<Integer> receiver) {
        synchronized (buffer) {
            if (isLong || !buffer.isIdle()) {
                final ReorderBuffer.Place<Integer> place = buffer.reserve();
                if (isLong) {
                    reads.add(() -> place.fill(message));
                } else {
                    place.fill(message);
                }
                return;
            }
        }
        receiver.accept(message);
    }

    private static void complete(final LinkedBlockingQueue<Runnable> reads, final ReorderBuffer<Integer> buffer,
        final Consumer<Integer> receiver) {
        final SplittableRandom random = new SplittableRandom(2);
        try {
            while (true) {
                final Runnable read = reads.take();
                if (!reads.isEmpty() && random.nextInt(3) == 0) {
                    reads.add(read);
                    continue;
                }
                synchronized (buffer) {
                    read.run();
                }
                deliver(buffer, receiver);
            }
        } catch (final InterruptedException e) {
            // All messages have been delivered.
            return;
        }
    }
}
