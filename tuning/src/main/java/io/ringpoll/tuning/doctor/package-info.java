/**
 * The machine doctor: checks that look at a machine, say what it costs completions, and name the command that changes it.
 *
 * <p>Checks read and never write. They see the machine through {@link io.ringpoll.tuning.doctor.Examined}, so that a recorded
 * file tree gives the same findings on every machine.
 */
package io.ringpoll.tuning.doctor;
