import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;

/**
 * Loads a JVM in the same way as ringpoll, for a second or two, to check its stability in the guest: threads that hand work to
 * each other, downcalls (plain and critical) and upcalls, code that becomes hot, is compiled, deoptimised and compiled again,
 * allocation, and exceptions. Every result is checked, so that a wrong result is detected as well as a crash.
 */
public final class Stability
{
    private static final int THREADS = 4;
    private static final int ITEMS = 1_500;
    private static final int SORTED = 64;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle ABS = LINKER.downcallHandle(
        LINKER.defaultLookup().find("labs").orElseThrow(),
        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG), Linker.Option.critical(false));
    private static final MethodHandle STRLEN = LINKER.downcallHandle(
        LINKER.defaultLookup().find("strlen").orElseThrow(),
        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    private static final FunctionDescriptor COMPARE = FunctionDescriptor.of(ValueLayout.JAVA_INT,
        ValueLayout.ADDRESS.withTargetLayout(ValueLayout.JAVA_INT),
        ValueLayout.ADDRESS.withTargetLayout(ValueLayout.JAVA_INT));
    private static final MethodHandle QSORT = LINKER.downcallHandle(
        LINKER.defaultLookup().find("qsort").orElseThrow(),
        FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));

    private Stability()
    {
    }

    /**
     * Runs the load once.
     *
     * @param args none
     * @throws Exception if a thread was interrupted or a downcall failed
     */
    public static void main(final String[] args) throws Exception
    {
        final AtomicLong consumed = new AtomicLong();
        final AtomicLong failures = new AtomicLong();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS / 2; i++)
        {
            final BlockingQueue<long[]> queue = new ArrayBlockingQueue<>(64);
            threads.add(start(() -> produce(queue), failures));
            threads.add(start(() -> consume(queue, consumed), failures));
        }
        threads.add(start(Stability::callNative, failures));
        threads.add(start(Stability::changeShapes, failures));
        for (final Thread thread : threads)
        {
            thread.join(TimeUnit.SECONDS.toMillis(60));
            if (thread.isAlive())
            {
                throw new IllegalStateException(thread.getName() + " has not ended after 60 s");
            }
        }
        final long expected = (long)THREADS / 2 * ITEMS * (ITEMS + 1) / 2;
        if (failures.get() != 0 || consumed.get() != expected)
        {
            throw new IllegalStateException("consumed " + consumed + ", expected " + expected + ", failures " + failures);
        }
    }

    private static Thread start(final Body body, final AtomicLong failures)
    {
        final Thread thread = new Thread(() ->
        {
            try
            {
                body.run();
            }
            catch (final Throwable t)
            {
                t.printStackTrace();
                failures.incrementAndGet();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void produce(final BlockingQueue<long[]> queue) throws InterruptedException
    {
        for (int i = 1; i <= ITEMS; i++)
        {
            final long[] item = new long[64];
            item[i & 63] = i;
            queue.put(item);
        }
        queue.put(new long[0]);
    }

    private static void consume(final BlockingQueue<long[]> queue, final AtomicLong consumed) throws InterruptedException
    {
        for (long[] item = queue.take(); item.length > 0; item = queue.take())
        {
            long sum = 0;
            for (final long value : item)
            {
                sum += value;
            }
            consumed.addAndGet(sum);
        }
    }

    private static void callNative() throws Throwable
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MethodHandle compare = MethodHandles.lookup().findStatic(Stability.class, "compare",
                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
            final MemorySegment upcall = LINKER.upcallStub(compare, COMPARE, arena);
            final MemorySegment text = arena.allocateFrom("x".repeat(100));
            final MemorySegment numbers = arena.allocate(ValueLayout.JAVA_INT, SORTED);
            for (int round = 0; round < 30; round++)
            {
                for (int i = 0; i < 500; i++)
                {
                    check((long)ABS.invokeExact((long)-i) == i, "labs");
                    check((long)STRLEN.invokeExact(text) == 100, "strlen");
                }
                for (int i = 0; i < SORTED; i++)
                {
                    numbers.setAtIndex(ValueLayout.JAVA_INT, i, i * 37 % SORTED);
                }
                QSORT.invokeExact(numbers, (long)SORTED, 4L, upcall);
                for (int i = 0; i < SORTED; i++)
                {
                    check(numbers.getAtIndex(ValueLayout.JAVA_INT, i) == i, "qsort");
                }
            }
        }
    }

    private static int compare(final MemorySegment a, final MemorySegment b)
    {
        return Integer.compare(a.get(ValueLayout.JAVA_INT, 0), b.get(ValueLayout.JAVA_INT, 0));
    }

    /** Adds targets to a hot call site one by one, so that the code compiled for fewer targets is discarded. */
    private static void changeShapes()
    {
        final List<LongUnaryOperator> shapes = List.of(
            x -> x + 1, x -> x ^ 5, x -> x * 3, x -> Long.rotateLeft(x, 7), x -> failOften(x), x -> countIn(new HashMap<>(), x));
        long compiled = 1;
        long expected = 1;
        for (int used = 1; used <= shapes.size(); used++)
        {
            for (int i = 0; i < 6_000; i++)
            {
                compiled = shapes.get(i % used).applyAsLong(compiled);
            }
            for (int i = 0; i < 6_000; i++)
            {
                expected = switch (i % used)
                {
                    case 0 -> expected + 1;
                    case 1 -> expected ^ 5;
                    case 2 -> expected * 3;
                    case 3 -> expected << 7 | expected >>> 57;
                    case 4 -> (expected & 15) == 0 ? expected + 9 : expected - 9;
                    default -> expected + 2;
                };
            }
            check(compiled == expected, "shapes");
        }
    }

    private static long failOften(final long x)
    {
        try
        {
            if ((x & 15) == 0)
            {
                throw new ArithmeticException();
            }
            return x - 9;
        }
        catch (final ArithmeticException e)
        {
            return x + 9;
        }
    }

    private static long countIn(final Map<Long, Integer> map, final long x)
    {
        map.merge(x, 1, Integer::sum);
        map.merge(x, 1, Integer::sum);
        return x + map.get(x);
    }

    private static void check(final boolean right, final String what)
    {
        if (!right)
        {
            throw new AssertionError("wrong result of " + what);
        }
    }

    private interface Body
    {
        void run() throws Throwable;
    }
}
