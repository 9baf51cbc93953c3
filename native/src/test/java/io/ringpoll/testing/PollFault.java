package io.ringpoll.testing;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.access.VerbsAccess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;

/**
 * Makes {@code ibv_poll_cq} of a device fail, in place: replaces the function pointer in the context by a C function, so that
 * every caller, librpma or Java, gets the error from the provider.
 */
public final class PollFault {
    private static final int POLL_CQ_OFFSET = 96;
    private static final String SOURCE = """
        #include <string.h>
        #include <infiniband/verbs.h>
        int fail(struct ibv_cq *cq, int n, struct ibv_wc *wc) { return -1; }
        int too_many(struct ibv_cq *cq, int n, struct ibv_wc *wc) { return n + 1; }
        int unknown_opcode(struct ibv_cq *cq, int n, struct ibv_wc *wc)
        {
            memset(wc, 0, sizeof(*wc));
            wc->wr_id = 99;
            wc->opcode = IBV_WC_TSO;
            return 1;
        }
        """;

    private static SymbolLookup library;

    private final MemorySegment pointer;
    private final MemorySegment original;

    @SuppressWarnings("restricted")
    private PollFault(final VerbsContext context) {
        pointer = MemorySegment.ofAddress(VerbsAccess.address(context) + POLL_CQ_OFFSET)
            .reinterpret(ValueLayout.ADDRESS.byteSize());
        original = pointer.get(ValueLayout.ADDRESS, 0);
    }

    /** While the action runs, every poll of the device returns -1. */
    public static void whileFailing(final VerbsContext context, final Runnable action) {
        new PollFault(context).run(function("fail"), action);
    }

    /** While the action runs, every poll of the device claims one completion more than it was asked for. */
    public static void whileGivingTooMany(final VerbsContext context, final Runnable action) {
        new PollFault(context).run(function("too_many"), action);
    }

    /** While the action runs, every poll of the device returns a completion of a kind that librpma never posts. */
    public static void whileGivingAnUnknownOpcode(final VerbsContext context, final Runnable action) {
        new PollFault(context).run(function("unknown_opcode"), action);
    }

    private void run(final MemorySegment function, final Runnable action) {
        pointer.set(ValueLayout.ADDRESS, 0, function);
        try {
            action.run();
        } finally {
            pointer.set(ValueLayout.ADDRESS, 0, original);
        }
    }

    private static synchronized MemorySegment function(final String name) {
        if (library == null) {
            library = CCompiler.loadedLibrary("libpollfault.so", SOURCE);
        }
        return library.find(name).orElseThrow();
    }
}
