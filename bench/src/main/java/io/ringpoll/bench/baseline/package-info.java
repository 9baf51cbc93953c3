/** The C baseline, loaded into this process: the work of a pipeline in plain C, over the same librpma and the same device. */
package io.ringpoll.bench.baseline;
