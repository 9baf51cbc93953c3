/** Tests of the binding of librpma, against the installed library. */
package io.ringpoll.rpma;
