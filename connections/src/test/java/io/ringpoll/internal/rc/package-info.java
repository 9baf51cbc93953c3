/** Connections for the tests of code that uses them. */
package io.ringpoll.internal.rc;
