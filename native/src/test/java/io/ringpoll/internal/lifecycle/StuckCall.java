package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.OtherThread;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A call of another thread that ends on request. */
final class StuckCall {
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final OtherThread<Object> caller;

    StuckCall(final HotCalls calls, final Runnable last) throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        caller = OtherThread.run(() -> HotCaller.call(calls, mark -> {
            entered.countDown();
            assertTrue(goOn.await(50, TimeUnit.SECONDS));
            last.run();
            return null;
        }));
        assertTrue(entered.await(30, TimeUnit.SECONDS));
    }

    void end() {
        goOn.countDown();
        caller.result();
    }
}
