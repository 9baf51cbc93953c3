/**
 * The plan of a pipeline's threads on a machine: their CPUs and waits.
 *
 * <p>{@link io.ringpoll.internal.tuning.plan.AffinityPlan#plan} assigns a CPU to each thread of a topology; the plan is a
 * value that a command prints and a pipeline's builder can apply.
 */
package io.ringpoll.internal.tuning.plan;
