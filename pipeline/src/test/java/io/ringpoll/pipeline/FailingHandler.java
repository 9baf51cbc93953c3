package io.ringpoll.pipeline;

import io.ringpoll.completion.WorkCompletion;
import java.util.ArrayList;
import java.util.List;

/** Records its calls, and throws in one of them. */
final class FailingHandler implements CompletionHandler {
    final List<String> calls = new ArrayList<>();
    final IllegalStateException failure = new IllegalStateException("provoked");
    long failsAt = -1;
    boolean failsAtStart;
    boolean failsAtShutdown;
    SlotControl slots;
    WorkCompletion flyweight;

    @Override
    public void onStart(final SlotControl control) {
        calls.add("start");
        slots = control;
        if (failsAtStart) {
            throw failure;
        }
    }

    @Override
    public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
        flyweight = wc;
        calls.add(sequence + (endOfBatch ? " end" : ""));
        if (sequence == failsAt) {
            throw failure;
        }
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        calls.add("fault " + code);
    }

    @Override
    public void onShutdown() {
        calls.add("shutdown");
        if (failsAtShutdown) {
            throw failure;
        }
    }
}
