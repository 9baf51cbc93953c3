package io.ringpoll.completion;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.StructAccess;

/** Access of the rest of the binding to members that this package hides from users. */
final class AddressAccess implements StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> {
    @Override
    public VerbsContext context(final long address) {
        return VerbsContext.of(address);
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
