/** Tests of the duty cycle, and the scripted queue that other modules' tests poll too. */
package io.ringpoll.poller;
