package io.ringpoll.internal.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Retains the memory of an arena while C has its address: until {@link #release()}, {@link Arena#close()} throws
 * {@link IllegalStateException}, and the garbage collector frees nothing.
 *
 * <p>The JDK retains a segment's arena for the length of a downcall that gets the segment, and offers nothing longer. So a daemon
 * thread makes such a call, which returns when the hold is released: bsearch(3), with a comparison function that waits in Java.
 * There is one thread for each arena that can be closed; automatic and global arenas need none.
 *
 * <p>Thread-safe.
 */
public final class MemoryHold {
    /** The scopes in use. A key keeps the memory reachable. */
    private static final Map<MemorySegment.Scope, MemoryHold> HOLDS = new HashMap<>();
    private static final Set<Class<?>> NEVER_CLOSED = scopesWithoutClose();

    private final MemorySegment.Scope scope;
    /** Null if nobody can close the arena. */
    private final Holder holder;
    private int users;

    private MemoryHold(final MemorySegment memory) {
        scope = memory.scope();
        holder = NEVER_CLOSED.contains(scope.getClass()) ? null : new Holder(memory);
    }

    /**
     * Retains the memory of a segment's arena.
     *
     * @param memory native memory
     * @return to be released once
     * @throws IllegalStateException    if the arena is closed
     * @throws IllegalArgumentException if the arena is confined to a thread: such memory can be used by no other, C's included
     */
    public static MemoryHold of(final MemorySegment memory) {
        synchronized (HOLDS) {
            MemoryHold hold = HOLDS.get(memory.scope());
            if (hold == null) {
                hold = new MemoryHold(memory);
                if (hold.holder != null) {
                    hold.holder.hold();
                }
                HOLDS.put(hold.scope, hold);
            }
            hold.users++;
            return hold;
        }
    }

    /** Lets the arena be closed, unless others retain it too. */
    public void release() {
        synchronized (HOLDS) {
            users--;
            if (users > 0) {
                return;
            }
            HOLDS.remove(scope);
        }
        if (holder != null) {
            holder.release();
        }
    }

    private static Set<Class<?>> scopesWithoutClose() {
        try (Arena closable = Arena.ofShared()) {
            return Stream.of(Arena.global().scope(), Arena.ofAuto().scope(),
                    MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope())
                .map(Object::getClass).filter(type -> type != closable.scope().getClass())
                .collect(Collectors.toUnmodifiableSet());
        }
    }

    /** The thread of a call that retains an arena. */
    private static final class Holder extends Thread {
        private static final MethodHandle bsearch$mh = NativeLibrary.c().plain("bsearch",
            FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
        private static final MemorySegment COMPARISON = comparison();

        private final MemorySegment memory;
        private final CompletableFuture<Void> held = new CompletableFuture<>();
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private volatile boolean released;

        Holder(final MemorySegment memory) {
            super(null, null, "ringpoll-hold-0x" + Long.toHexString(memory.address()), 0, false);
            setDaemon(true);
            this.memory = memory;
            if (!memory.isAccessibleBy(this)) {
                throw new IllegalArgumentException(
                    "the memory's arena is confined to a thread: use Arena.ofShared or Arena.ofAuto");
            }
        }

        void hold() {
            start();
            try {
                held.join();
            } catch (final CompletionException e) {
                throw new IllegalStateException("the memory cannot be retained: " + e.getCause().getMessage(), e.getCause());
            }
        }

        void release() {
            released = true;
            LockSupport.unpark(this);
            ended.join();
        }

        @Override
        public void run() {
            try {
                final long found = (long) bsearch$mh.invokeExact(memory, memory, 1L, 1L, COMPARISON);
            } catch (final Throwable t) {
                held.completeExceptionally(t);
            } finally {
                ended.complete(null);
            }
        }

        /** Runs within bsearch(3), with the memory retained. Must not throw. */
        @SuppressWarnings("unused")
        private static int compare(final MemorySegment key, final MemorySegment element) {
            final Holder holder = (Holder) Thread.currentThread();
            holder.held.complete(null);
            while (!holder.released) {
                Thread.interrupted();
                LockSupport.park(holder);
            }
            return 0;
        }

        @SuppressWarnings("restricted")
        private static MemorySegment comparison() {
            try {
                final MethodHandle compare = MethodHandles.lookup().findStatic(Holder.class, "compare",
                    MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
                return Linker.nativeLinker().upcallStub(
                    compare, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), Arena.global());
            } catch (final ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }
}
