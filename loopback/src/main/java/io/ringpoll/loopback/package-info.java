/** The loopback device: libibverbs and librdmacm in user space, in this process, for first runs, tests and benchmarks. */
package io.ringpoll.loopback;
