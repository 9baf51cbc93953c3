/** The C baseline, loaded into this process: the same job in plain C, over the same librpma and the same device. */
package io.ringpoll.bench.baseline;
