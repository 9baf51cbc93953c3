/** Tests of the duty cycle, and the scripted queue that tests of other modules also use. */
package io.ringpoll.poller;
