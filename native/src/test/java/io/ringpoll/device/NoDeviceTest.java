package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.testing.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The binding alone, without the artifact of the loopback device, on a machine without an RDMA device. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class NoDeviceTest {
    @BeforeAll
    static void assumeNoHardware() {
        assumeTrue(!RdmaHardware.find(Device.SYS_CLASS, Device.DEV).isPresent(), "this machine has an RDMA device");
    }

    @Test
    void shouldNameBothRemediesInOneLine() {
        assertEquals("no RDMA device found; load the card's driver or Soft-RoCE (rdma link add), or add the artifact " +
            "io.ringpoll:ringpoll-loopback for a device in this process", JavaProcess.create().run(DeviceProgram.class));
    }

    @Test
    void shouldNameTheArtifactOfTheLoopbackDevice() {
        assertEquals("device loopback: it is not on the class path or module path; add the artifact " +
            "io.ringpoll:ringpoll-loopback", JavaProcess.create().run(DeviceProgram.class, "loopback"));
    }
}
