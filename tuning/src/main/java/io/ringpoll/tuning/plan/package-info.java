/**
 * The placement of a pipeline's threads on a machine, and their waits.
 *
 * <p>{@link io.ringpoll.tuning.plan.AffinityPlan#plan} assigns a CPU to each thread of a topology; the plan is a value that a
 * command prints and a pipeline's builder can apply.
 */
package io.ringpoll.tuning.plan;
