package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.Device;
import io.ringpoll.internal.binding.ConnectionManager;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.io.PrintStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A librpma with slow memory registration and address resolution: nothing else waits for them. */
@Timeout(120)
class SlowLibraryTest {
    private static final int SLOW_BYTES = 12_345;
    private static final String SLOW_PORT = "1";

    private static final String SLOW_LIBRARY = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdatomic.h>
        #include <string.h>
        #include <unistd.h>
        #include <librpma.h>
        static atomic_int released;
        void slow_release(int yes) { released = yes; }
        static void *next(const char *name)
        {
            return dlsym(dlopen("librpma.so.0", RTLD_LAZY | RTLD_NOLOAD), name);
        }
        static void wait_if(int slow)
        {
            while (slow && !released)
                usleep(1000);
        }
        int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage, struct rpma_mr_local **mr)
        {
            int (*reg)(struct rpma_peer *, void *, size_t, int, struct rpma_mr_local **) = next("rpma_mr_reg");
            wait_if(size == 12345);
            return reg(peer, ptr, size, usage, mr);
        }
        int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port, const struct rpma_conn_cfg *cfg,
            struct rpma_conn_req **req)
        {
            int (*new)(struct rpma_peer *, const char *, const char *, const struct rpma_conn_cfg *, struct rpma_conn_req **) =
                next("rpma_conn_req_new");
            wait_if(strcmp(port, "1") == 0);
            return new(peer, addr, port, cfg, req);
        }
        """;

    @TempDir
    private Path folder;

    @Test
    void shouldLetNothingWaitForARegistrationOrAResolution() {
        assertEquals("done", run(Unrelated.class));
    }

    @Test
    void shouldMakeTheFirstUseOfTheConnectionManagerWhileItLoads() {
        assertEquals("true", run(Loaded.class));
    }

    @Test
    void shouldEndAResolutionAtAnInterruptAndLeaveNothingBehind() {
        assertEquals("done", run(Interrupted.class));
    }

    private String run(final Class<?> program) {
        assumeTrue(Files.exists(LibrpmaHeader.PATH), "librpma.h is not installed (librpma-dev)");
        final Path library =
            CCompiler.sharedLibrary(folder, "libslow.so", SLOW_LIBRARY, "-Wl,--no-as-needed", "-lrpma", "-ldl");
        return JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .property(Device.LIBRPMA_PROPERTY, library.toString()).run(program);
    }

    private static void release(final int yes) {
        final MethodHandle release =
            Libraries.current().rpma().plain("slow_release", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        try {
            release.invokeExact(yes);
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Loads the binding, without any use of the connection manager. */
    static final class Loaded {
        private static final PrintStream OUT = System.out;

        private Loaded() {
        }

        public static void main(final String[] arguments) {
            ConnectionConfig.create().close();
            OUT.println(ConnectionManager.isInitialised());
        }
    }

    /** Registers, connects and closes while a registration and a resolution are under way. */
    static final class Unrelated {
        private static final PrintStream OUT = System.out;

        private Unrelated() {
        }

        public static void main(final String[] arguments) {
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                final OtherThread<LocalMemoryRegion> registering =
                    OtherThread.run(() -> pair.peer().allocate(SLOW_BYTES, MemoryUsage.SEND));
                registering.requireWaiting();
                final OtherThread<ConnectionRequest> resolving =
                    OtherThread.run(() -> pair.peer().request(TestDevice.address(), SLOW_PORT));
                resolving.requireParked();
                pair.peer().allocate(1, MemoryUsage.SEND).close();
                try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create()) {
                    pair.peer().sharedReceiveQueue(config).close();
                }
                ConnectedPair.ofDefaults().close();
                release(1);
                registering.result().close();
                resolving.result().close();
            }
            OUT.println("done");
        }
    }

    /** Interrupts a thread that waits for a resolution, and closes the remaining object as soon as it exists. */
    static final class Interrupted {
        private static final PrintStream OUT = System.out;

        private Interrupted() {
        }

        public static void main(final String[] arguments) {
            Map<String, Long> objects = null;
            for (int round = 0; round < 3; round++) {
                try (ConnectedPair pair = ConnectedPair.ofDefaults(); ConnectionConfig config = ConnectionConfig.create()) {
                    release(0);
                    final OtherThread<ConnectionRequest> resolving =
                        OtherThread.run(() -> pair.peer().request(TestDevice.address(), SLOW_PORT, config.cqSize(20)));
                    resolving.requireParked();
                    resolving.interrupt();
                    final WaitInterruptedException interrupted = resolving.failure(WaitInterruptedException.class);
                    assertEquals("a request to " + TestDevice.address() + ":1 was interrupted", interrupted.getMessage());
                    assertThrows(IllegalStateException.class, pair.peer()::close);
                    config.close();
                    release(1);
                }
                // The peer's close has waited for the request's.
                assertTrue(objects == null || objects.equals(ProcessResources.objects()),
                    objects + " before, " + ProcessResources.objects() + " after");
                objects = ProcessResources.objects();
            }
            OUT.println("done");
        }
    }
}
