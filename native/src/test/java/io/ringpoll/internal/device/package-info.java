/** Tests of the C libraries in the artifacts. */
package io.ringpoll.internal.device;
