/** Makes objects of {@link io.ringpoll.verbs} for structs that C has made. */
package io.ringpoll.internal.access;
