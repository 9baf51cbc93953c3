/** Tests of all modules together on a device, and what runs every module's tests on it. */
package io.ringpoll.verify.device;
