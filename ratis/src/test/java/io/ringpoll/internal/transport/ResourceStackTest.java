package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ResourceStackTest {
    private final List<String> ended = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final ResourceStack stack = new ResourceStack(failures::add);
    private boolean ends = true;

    private void take(final String... names) {
        for (final String name : names) {
            stack.push(() -> ended.add(name));
        }
    }

    private boolean endThread() {
        ended.add("thread");
        return ends;
    }

    @Test
    void shouldReleaseTheLastResourceFirstAndEachOnce() {
        take("device", "pool");
        stack.pushUser(this::endThread);
        assertTrue(stack.end());
        assertTrue(stack.end());
        assertEquals(List.of("thread", "pool", "device"), ended);
    }

    @Test
    void shouldRetainResourcesBelowAUserThatHasNotEnded() {
        take("device");
        stack.pushUser(this::endThread);
        take("hook");
        ends = false;
        assertFalse(stack.end());
        assertEquals(List.of("hook", "thread"), ended);
        ends = true;
        assertTrue(stack.end());
        assertEquals(List.of("hook", "thread", "thread", "device"), ended);
    }

    @Test
    void shouldReleaseTheOthersIfOneCannotBeReleased() {
        final IOException failure = new IOException("in use");
        take("device");
        stack.push(() -> {
            throw failure;
        });
        take("pool");
        assertTrue(stack.end());
        assertEquals(List.of("pool", "device"), ended);
        assertEquals(List.of(failure), failures);
    }

    @Test
    void shouldReleaseWhatAFailedConstructionHasTakenAndRetainItsFailure() {
        final IOException failure = new IOException("half-way");
        take("device", "pool");
        stack.endAfter(failure);
        assertEquals(List.of("pool", "device"), ended);
        assertEquals(0, failure.getSuppressed().length);
    }

    @Test
    void shouldReleaseTheOthersIfOneIsNotReleasedBecauseOfAnError() {
        final AssertionError failure = new AssertionError("in use");
        take("device");
        stack.push(() -> {
            throw failure;
        });
        assertTrue(stack.end());
        assertEquals(List.of("device"), ended);
        assertEquals(List.of(failure), failures);
    }

    @ParameterizedTest
    @MethodSource
    void shouldRetainResourcesBelowAUserWhoseEndFails(final Throwable another) {
        final IOException failure = new IOException("half-way");
        take("device");
        stack.pushUser(() -> {
            if (another instanceof final Error error) {
                throw error;
            }
            throw (RuntimeException) another;
        });
        stack.endAfter(failure);
        assertEquals(List.of(), ended);
        assertSame(another, failure.getSuppressed()[0]);
        assertEquals(List.of(), failures);
        assertFalse(stack.end());
        assertEquals(List.of(), ended);
        assertEquals(List.of(another), failures);
    }

    static List<Throwable> shouldRetainResourcesBelowAUserWhoseEndFails() {
        return List.of(new IllegalStateException("no thread"), new NoClassDefFoundError("a thread"));
    }
}
