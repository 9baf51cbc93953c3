/** The memory of this process, for runs that check that it does not grow. */
package io.ringpoll.verify.process;
