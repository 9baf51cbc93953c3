package io.ringpoll.completion;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Owner;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.StructAccess;
import java.util.function.LongFunction;

/** Access of the rest of the binding to members that this package hides from users. */
final class AddressAccess implements StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> {
    @Override
    public VerbsContext context(final long address, final Owner owner) {
        return VerbsContext.of(address, owner);
    }

    @Override
    public <T extends NativeResource> T create(final VerbsContext context, final LongFunction<T> creation) {
        return context.create(creation);
    }

    @Override
    public long address(final VerbsContext context) {
        return context.address();
    }

    @Override
    public boolean isIwarp(final VerbsContext context) {
        return context.isIwarp();
    }

    @Override
    public int capacity(final long address) {
        return VerbsCompletionQueue.capacity(address);
    }

    @Override
    public VerbsCompletionQueue borrow(final long address, final String name, final NativeResource owner,
        final CompletionQueue viewed, final CompletionHandover handover) {
        final VerbsCompletionQueue queue = VerbsCompletionQueue.borrow(address, name, owner, viewed);
        queue.budget(viewed.budget());
        queue.handover(handover);
        return queue;
    }
}
