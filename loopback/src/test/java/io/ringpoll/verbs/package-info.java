/** Tests of connections on librdmacm and libibverbs, on a device. */
package io.ringpoll.verbs;
