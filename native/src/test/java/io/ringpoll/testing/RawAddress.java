package io.ringpoll.testing;

import io.ringpoll.internal.lifecycle.NativeObject;
import java.lang.reflect.Field;

/** The C object behind a Java one, for tests that call C themselves. */
public final class RawAddress {
    private RawAddress() {
    }

    /** The object's address; 0 if it is closed. */
    public static long of(final NativeObject object) {
        try {
            final Field field = NativeObject.class.getDeclaredField("address");
            field.setAccessible(true);
            return field.getLong(object);
        } catch (final ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
