package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.testing.FirstUses;
import io.ringpoll.testing.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM without one of its flags gets the missing one in one line. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class JvmFlagsTest {
    private static final String UNSAFE = "the JVM needs the flag --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED: Agrona " +
        "accesses off-heap memory by this package";
    private static final String NATIVE = "the JVM needs the flag --enable-native-access=ALL-UNNAMED: the binding calls C";

    @Test
    void shouldNameTheFlagWhateverIsUsedFirst() {
        assertEquals("called; " + UNSAFE,
            JavaProcess.create().withoutFlag("--add-opens").run(FirstUses.class, "native"));
        assertEquals("called; " + NATIVE, JavaProcess.create().withoutFlag("--enable-native-access")
            .option("--illegal-native-access=deny").run(FirstUses.class, "native"));
    }

    @Test
    void shouldNameTheFlagForUnsafe() {
        assertEquals(UNSAFE, JavaProcess.create().withoutFlag("--add-opens").run(DeviceProgram.class));
    }

    @Test
    void shouldNameTheFlagForNativeAccessWhereItIsDenied() {
        assertEquals(NATIVE,
            JavaProcess.create().withoutFlag("--enable-native-access").option("--illegal-native-access=deny")
                .run(DeviceProgram.class));
    }
}
