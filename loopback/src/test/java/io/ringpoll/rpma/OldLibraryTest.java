package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
        assertEquals("rpma_recv failed: RPMA_E_PROVIDER (Provider error occurred)", output);
    }

    @Test
    void shouldTellAFullQueueOtherwise() {
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
}
