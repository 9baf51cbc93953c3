package io.ringpoll.device;

/** Thrown if the device or one of its libraries cannot be used; the message is one line with the reason and the remedy. */
public final class DeviceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Without a cause.
     *
     * @param message the device, the reason and the remedy, in one line
     */
    public DeviceException(final String message) {
        super(message);
    }

    /**
     * With a cause.
     *
     * @param message the device, the reason and the remedy, in one line
     * @param cause   of the failure
     */
    public DeviceException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
