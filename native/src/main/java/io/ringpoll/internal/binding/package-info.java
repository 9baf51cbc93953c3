/** The loaded device, for the packages that call its libraries. */
package io.ringpoll.internal.binding;
