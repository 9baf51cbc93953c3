/** Runs that draw what they do from seeds. */
package io.ringpoll.verify.seeds;
