package io.ringpoll.internal.lifecycle;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Looks for frames of {@link HotCall} methods on the stacks of threads.
 *
 * <p>The JVM reads the stack of another thread in a handshake with it: that thread is at a safepoint poll, blocked, or within a
 * plain downcall, never within a critical one, and sees afterwards all earlier writes. So a thread that shows no such frame
 * is outside, and reads the fields of its next call anew.
 */
final class HotFrames {
    /** No call is this deep between the method that enters and C, the loading of classes included. */
    private static final int DEPTH = 256;
    private static final Map<String, Set<String>> METHODS = new ConcurrentHashMap<>();
    /** Where a thread waits before it reads anything of its call. */
    private static final Set<String> ENTRANCES =
        Set.of(HotCalls.class.getName() + ".own", HotMark.class.getName() + ".enterLock");
    private static final boolean SHOWS_DEEP_STACKS = StackProbe.depthShown(DEPTH) >= DEPTH;

    /** By the class of a thread; looked up once, since a search by reflection allocates. */
    private static final ClassValue<Boolean> SHOWS_ITS_STACK = new ClassValue<>() {
        @Override
        protected Boolean computeValue(final Class<?> thread) {
            try {
                return thread.getMethod("getStackTrace").getDeclaringClass() == Thread.class;
            } catch (final NoSuchMethodException e) {
                throw new IllegalStateException(e);
            }
        }
    };

    private HotFrames() {
    }

    /** Makes the hot methods of a class known, before any of them enters. */
    static void register(final Class<?> caller) {
        METHODS.computeIfAbsent(caller.getName(), name -> Stream.of(caller.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(HotCall.class)).map(Method::getName)
            .collect(Collectors.toUnmodifiableSet()));
    }

    /**
     * Whether the stack of a thread can be relied on: not with a {@code -XX:MaxJavaStackTraceDepth} that cuts it off, or if its
     * class returns something else.
     */
    static boolean canObserve(final Thread thread) {
        return SHOWS_DEEP_STACKS && SHOWS_ITS_STACK.get(thread.getClass());
    }

    /** Whether a thread, which is not the calling one, has the frame of a hot method on its stack, and does not wait to enter. */
    static boolean isInside(final Thread thread) {
        for (final StackTraceElement frame : thread.getStackTrace()) {
            if (ENTRANCES.contains(frame.getClassName() + "." + frame.getMethodName())) {
                return false;
            }
            if (METHODS.getOrDefault(frame.getClassName(), Set.of()).contains(frame.getMethodName())) {
                return true;
            }
        }
        return false;
    }
}
