package io.ringpoll.internal.device;

/** Makes the exception of an unusable device. Its public type is in a package that depends on this one. */
@FunctionalInterface
public interface DeviceFailure {
    /**
     * Makes the exception.
     *
     * @param message the device, the reason and the remedy, in one line
     * @param cause   of the failure; null if there is none
     * @return to be thrown
     */
    RuntimeException of(String message, Throwable cause);
}
