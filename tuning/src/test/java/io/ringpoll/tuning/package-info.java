/** Tests of the tuning tools, and shared test code. */
package io.ringpoll.tuning;
