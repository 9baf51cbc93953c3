/** The main job and the tools that measure it. */
package io.ringpoll.bench;
