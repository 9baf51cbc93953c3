/** The C libraries of the device in use, and those in the artifacts. */
package io.ringpoll.internal.device;

