/** Tests of the run over mutants. */
package io.ringpoll.mutation;
