/** Tests of the calls of the operating system. */
package io.ringpoll.os;
