package io.ringpoll.completion;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The downcalls behind {@link DeviceAttributes}: rare, so that the handles belong to the one object that asks. */
final class DeviceQuery {
    /** {@code struct ibv_device_attr}: 232 bytes, with the limits as ints from 108 on. */
    private static final int DEVICE_ATTR_BYTES = 256;
    private static final int MAX_QP_WR_OFFSET = 112;
    private static final int MAX_CQ_OFFSET = 128;
    private static final int MAX_CQE_OFFSET = 132;
    private static final int MAX_SRQ_WR_OFFSET = 216;
    private static final int PHYS_PORT_CNT_OFFSET = 227;
    /** {@code struct ibv_port_attr}: 52 bytes in current headers, begins with state, max_mtu, active_mtu. */
    private static final int PORT_ATTR_BYTES = 128;
    private static final int ACTIVE_MTU_OFFSET = 8;
    /** {@code enum ibv_mtu}: 1 is 256 bytes, each further one doubles, 5 is 4096. */
    private static final int LARGEST_MTU = 5;
    private static final int MTU_SHIFT = 7;

    private final MethodHandle getDeviceList;
    private final MethodHandle freeDeviceList;
    private final MethodHandle getDeviceName;
    private final MethodHandle openDevice;
    private final MethodHandle closeDevice;
    private final MethodHandle queryDevice;
    private final MethodHandle queryPort;

    DeviceQuery(final NativeLibrary libibverbs) {
        getDeviceList = libibverbs.capturing("ibv_get_device_list", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        freeDeviceList = libibverbs.plain("ibv_free_device_list", FunctionDescriptor.ofVoid(JAVA_LONG));
        getDeviceName = libibverbs.plain("ibv_get_device_name", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        openDevice = libibverbs.plain("ibv_open_device", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        closeDevice = libibverbs.plain("ibv_close_device", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
        queryDevice = libibverbs.plain("ibv_query_device", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
        queryPort = libibverbs.plain("ibv_query_port", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BYTE, JAVA_LONG));
    }

    List<DeviceAttributes> all() {
        final List<DeviceAttributes> devices = new ArrayList<>();
        try {
            final long list = (long) getDeviceList.invokeExact(CallState.current().errnoSegment(), 0L);
            if (list == 0) {
                throw new VerbsException("ibv_get_device_list", CallState.current().errno());
            }
            for (long entry = list; Memory.longAt(entry) != 0; entry += Long.BYTES) {
                final long device = Memory.longAt(entry);
                final long context = (long) openDevice.invokeExact(device);
                if (context != 0) {
                    devices.add(attributes(Memory.stringAt((long) getDeviceName.invokeExact(device)), context));
                    final int ignored = (int) closeDevice.invokeExact(context);
                }
            }
            freeDeviceList.invokeExact(list);
            return devices;
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    Optional<DeviceAttributes> of(final VerbsContext context) {
        final long device = context.enter();
        try {
            return Optional.of(attributes(context.name(), device)).filter(attributes -> attributes.maxCqe() > 0);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        } finally {
            context.exit();
        }
    }

    private DeviceAttributes attributes(final String name, final long context) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment device = arena.allocate(DEVICE_ATTR_BYTES, Long.BYTES);
            final int failed = (int) queryDevice.invokeExact(context, device.address());
            if (failed != 0) {
                return new DeviceAttributes(name, 0, 0, 0, 0, List.of());
            }
            final List<Integer> mtus = new ArrayList<>();
            final int ports = Byte.toUnsignedInt(device.get(JAVA_BYTE, PHYS_PORT_CNT_OFFSET));
            for (int port = 1; port <= ports; port++) {
                final MemorySegment attributes = arena.allocate(PORT_ATTR_BYTES, Long.BYTES);
                final int portFailed = (int) queryPort.invokeExact(context, (byte) port, attributes.address());
                final int mtu = portFailed == 0 ? attributes.get(JAVA_INT, ACTIVE_MTU_OFFSET) : 0;
                mtus.add(mtu >= 1 && mtu <= LARGEST_MTU ? 1 << mtu + MTU_SHIFT : 0);
            }
            return new DeviceAttributes(name, device.get(JAVA_INT, MAX_CQ_OFFSET), device.get(JAVA_INT, MAX_CQE_OFFSET),
                device.get(JAVA_INT, MAX_QP_WR_OFFSET), device.get(JAVA_INT, MAX_SRQ_WR_OFFSET), mtus);
        }
    }
}
