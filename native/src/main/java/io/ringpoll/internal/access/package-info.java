/** Makes objects of {@link io.ringpoll.completion} for structs that C has made. */
package io.ringpoll.internal.access;
