/** Tests of how the device and its libraries are chosen. */
package io.ringpoll.device;
