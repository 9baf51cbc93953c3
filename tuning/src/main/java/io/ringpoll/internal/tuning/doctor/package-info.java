/**
 * The machine doctor: checks that examine a machine, state the effect on completions, and name the command that corrects it.
 *
 * <p>Checks only read. They access the machine through {@link io.ringpoll.internal.tuning.doctor.Examined}, so that a recorded
 * file tree yields the same findings on every machine.
 */
package io.ringpoll.internal.tuning.doctor;
