/** Requests and connections for the tests of code that uses them. */
package io.ringpoll.internal.rc;
