/**
 * What every binding in this module shares: libraries, method handles of C functions, the state of a call.
 *
 * <p>Public for the sake of the packages beside it; users of the binding need nothing here.
 */
package io.ringpoll.ffm;
