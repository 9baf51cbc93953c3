/** {@code ./ringpoll run}: the main job. */
package io.ringpoll.cli.run;
