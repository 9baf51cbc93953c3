/** Tests of all modules together on a device, and the runner of the device tests of every module. */
package io.ringpoll.verify.device;
