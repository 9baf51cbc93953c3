package io.ringpoll.internal.transport;

import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails each test of this module during which code of the engine has waited on a thread of the handlers; tests themselves may
 * wait there. JUnit finds it by its service file, and the property {@link WaitCheck#PROPERTY} of the test JVMs enables the check.
 */
public final class NoWaitsExtension implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
    private static volatile boolean registered;

    /** Whether tests of this JVM are checked. */
    static boolean isRegistered() {
        return registered;
    }

    @Override
    public void beforeAll(final ExtensionContext tests) {
        registered = true;
    }

    @Override
    public void afterEach(final ExtensionContext test) {
        check();
    }

    @Override
    public void afterAll(final ExtensionContext tests) {
        check();
    }

    static void check() {
        final List<AssertionError> found = WaitCheck.takeFound();
        if (!found.isEmpty()) {
            final AssertionError failure = new AssertionError(found.size() + " times, the first one: " +
                found.getFirst().getMessage() + " for " + Long.getLong(WaitCheck.PROPERTY) + " ms", found.getFirst());
            found.stream().skip(1).forEach(failure::addSuppressed);
            throw failure;
        }
    }
}
