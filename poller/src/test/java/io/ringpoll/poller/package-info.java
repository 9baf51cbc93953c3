/** Tests of the public types, and queues that tests of other modules also use. */
package io.ringpoll.poller;
