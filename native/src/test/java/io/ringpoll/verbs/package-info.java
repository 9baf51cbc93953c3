/** Tests of the package that need no device. */
package io.ringpoll.verbs;
