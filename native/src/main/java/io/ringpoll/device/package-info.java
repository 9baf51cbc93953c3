/** Which RDMA device is used, and the C libraries that belong to it: the machine's own, or the loopback device's. */
package io.ringpoll.device;
