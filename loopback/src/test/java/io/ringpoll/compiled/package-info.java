/** Tests of code that C2 has compiled: loops around calls into C that must reach safepoints. */
package io.ringpoll.compiled;
