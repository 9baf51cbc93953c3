/** Tests of the life of C objects. */
package io.ringpoll.internal.lifecycle;

