package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.Device;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
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

/** A constructor that fails after librpma's part of it leaves nothing behind. */
@Timeout(120)
class HalfWayTest {
    /** A library in which a queue or an endpoint has no descriptor, or has one that is not open, at the n-th call. */
    private static final String FAILING_LIBRARY = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <librpma.h>
        static int calls_to_failure;
        int failing_at(int call) { int left = calls_to_failure; calls_to_failure = call; return left; }
        static int fails(int *fd)
        {
            *fd = 1 << 30;
            return calls_to_failure > 0 && --calls_to_failure == 0;
        }
        static void *next(const char *name)
        {
            return dlsym(dlopen("librpma.so.0", RTLD_LAZY | RTLD_NOLOAD), name);
        }
        int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
        {
            int (*get)(const struct rpma_cq *, int *) = next("rpma_cq_get_fd");
            return fails(fd) ? 0 : get(cq, fd);
        }
        int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd)
        {
            int (*get)(const struct rpma_ep *, int *) = next("rpma_ep_get_fd");
            return fails(fd) ? RPMA_E_INVAL : get(ep, fd);
        }
        int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd)
        {
            int (*get)(const struct rpma_conn *, int *) = next("rpma_conn_get_event_fd");
            return fails(fd) ? 0 : get(conn, fd);
        }
        """;

    @TempDir
    private Path folder;

    @Test
    void shouldReleaseWhatItTookWhereverItFails() {
        assumeTrue(Files.exists(LibrpmaHeader.PATH), "librpma.h is not installed (librpma-dev)");
        final Path library =
            CCompiler.sharedLibrary(folder, "libfailing.so", FAILING_LIBRARY, "-Wl,--no-as-needed", "-lrpma", "-ldl");
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .property(Device.LIBRPMA_PROPERTY, library.toString()).run(EachFailing.class);
        // An endpoint; a shared receive queue; and of two connections the events and two queues each.
        assertEquals("8 failures", output);
    }

    /** Makes each call fail in turn, and returns the number of failed calls. */
    static final class EachFailing {
        private static final PrintStream OUT = System.out;

        private EachFailing() {
        }

        public static void main(final String[] arguments) throws Throwable {
            final MethodHandle failingAt = Libraries.current().rpma().plain(
                "failing_at", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            live();
            final Map<String, Long> before = ProcessResources.objects();
            final int fileDescriptors = ProcessResources.fileDescriptors();
            int failures = 0;
            boolean failed = true;
            while (failed) {
                int left = (int) failingAt.invokeExact(failures + 1);
                try {
                    live();
                } catch (final RuntimeException expected) {
                    failures++;
                }
                left = (int) failingAt.invokeExact(0);
                failed = left == 0;
                assertEquals(before, ProcessResources.objects(), "after failure " + failures);
                assertTrue(
                    ProcessResources.fileDescriptorsDownTo(fileDescriptors) <= fileDescriptors, "after failure " + failures);
            }
            OUT.println(failures + " failures");
        }

        private static void live() {
            final String port = ConnectedPair.anyPort();
            try (Peer peer = Peer.ofLocal(TestDevice.address()); ConnectionConfig config = ConnectionConfig.create().rcqSize(4);
                SharedReceiveQueueConfig shared = SharedReceiveQueueConfig.create().rcqSize(4);
                Endpoint endpoint = peer.listen(TestDevice.address(), port);
                SharedReceiveQueue queue = peer.sharedReceiveQueue(shared);
                Connection client = peer.request(TestDevice.address(), port, config).connect();
                Connection server = endpoint.nextRequest(config, ConnectedPair.TIMEOUT_MS).orElseThrow().connect()) {
                client.isClosed();
            }
        }
    }
}
