package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour that depends on the loaded librpma and its log: in child JVMs, since libraries are loaded once. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class OldLibraryTest {
    /** A library with the old call in addition to all of the installed ones; it leaves a mark in the flags. */
    private static final String OLD_LIBRARY = """
        #include <librpma.h>
        struct rpma_completion {
            void *op_context;
            int op;
            uint32_t byte_len;
            enum ibv_wc_status op_status;
            unsigned flags;
            uint32_t imm;
        };
        int rpma_cq_get_completion(struct rpma_cq *cq, struct rpma_completion *completion)
        {
            struct ibv_wc wc;
            int result = rpma_cq_get_wc(cq, 1, &wc, NULL);
            if (result)
                return result;
            completion->op_context = (void *) wc.wr_id;
            completion->op = 3;
            completion->byte_len = 99;
            completion->op_status = wc.status;
            completion->flags = 0x4000;
            completion->imm = 0x01020304;
            return 0;
        }
        """;

    private static final String OWN_LOG =
        "the queue may be full: the reason is in librpma's own log (" + RpmaLog.DESTINATION_PROPERTY + ")";

    @TempDir
    private Path folder;

    @Test
    void shouldUseTheOldCallWhereTheLibraryHasIt() {
        assumeTrue(Files.exists(LibrpmaHeader.PATH), "librpma.h is not installed (librpma-dev)");
        final Path library =
            CCompiler.sharedLibrary(folder, "librpma.so.0", OLD_LIBRARY, "-Wl,--no-as-needed", "-lrpma");
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .property(Device.LIBRPMA_PROPERTY, library.toString()).run(OldCall.class);
        assertEquals("0 77 SEND 99 0 16384 16909060", output);
    }

    @Test
    void shouldLeaveTheLogToTheLibraryIfAsked() {
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .property(RpmaLog.DESTINATION_PROPERTY, "librpma").run(FullQueue.class);
        assertEquals("rpma_recv failed: RPMA_E_PROVIDER (Provider error occurred); " + OWN_LOG, output);
    }

    @Test
    void shouldNameBothReasonsOfARefusedSendThatIsLoggedElsewhere() {
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .property(RpmaLog.DESTINATION_PROPERTY, "librpma").run(EarlySend.class);
        final List<String> messages = output.lines().toList();
        final String failure = "rpma_send failed: RPMA_E_PROVIDER (Provider error occurred); ";
        assertTrue(messages.getFirst().matches(Pattern.quote(failure) +
            "connection \\d+ takes this only after ESTABLISHED: await it by nextEvent; or " + Pattern.quote(OWN_LOG)), output);
        assertEquals(failure + OWN_LOG, messages.getLast());
    }

    @Test
    void shouldReturnFalseForAFullQueue() {
        assertEquals("false", JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").run(FullQueue.class));
    }

    /** Takes a completion by the old call. */
    static final class OldCall {
        private static final PrintStream OUT = System.out;

        private OldCall() {
        }

        public static void main(final String[] arguments) {
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 77));
                final LegacyCompletion completion = new LegacyCompletion();
                final int result = pair.client().completionQueue().getCompletion(completion);
                OUT.println(result + " " + completion.opContext() + " " + completion.op() + " " + completion.byteLen() + " " +
                    completion.opStatus() + " " + completion.flags() + " " + completion.imm());
            }
        }
    }

    /** Posts receives until there is no room. */
    static final class FullQueue {
        private static final PrintStream OUT = System.out;

        private FullQueue() {
        }

        public static void main(final String[] arguments) {
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                pair.server().completionQueue().withoutBudget();
                boolean accepted = true;
                while (accepted) {
                    accepted = pair.server().receive(null, 0, 0, 1);
                }
                OUT.println(accepted);
            } catch (final RpmaException e) {
                OUT.println(e.getMessage());
            }
        }
    }

    /** Posts a send before the connection is established, and sends until there is no room. */
    static final class EarlySend {
        private static final PrintStream OUT = System.out;

        private EarlySend() {
        }

        public static void main(final String[] arguments) {
            final String port = ConnectedPair.anyPort();
            try (ConnectedPair pair = ConnectedPair.ofDefaults();
                Endpoint endpoint = pair.peer().listen(TestDevice.address(), port);
                Connection early = pair.peer().request(TestDevice.address(), port).connect()) {
                send(early);
                assertTrue(endpoint.fd() >= 0);
                pair.client().completionQueue().withoutBudget();
                send(pair.client());
            }
        }

        private static void send(final Connection connection) {
            try {
                boolean accepted = true;
                while (accepted) {
                    accepted = connection.send(null, 0, 0, CompletionFlag.ALWAYS, 1);
                }
            } catch (final RpmaException e) {
                OUT.println(e.getMessage());
            }
        }
    }
}
