/** Seeds and time limits of random runs. */
package io.ringpoll.verify.seeds;
