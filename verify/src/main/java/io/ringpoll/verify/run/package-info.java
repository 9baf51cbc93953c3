/**
 * The main job: a server and a client over librpma, a mixed workload, and the account of every work request.
 *
 * <p>Threads: the client thread posts, the fault lane provokes failures, the server thread accepts and closes connections; the
 * poller and the handlers of the pipeline process the completions. The {@link io.ringpoll.verify.run.Ledger} and the credits are
 * shared between threads.
 *
 * <p>Module {@code connections} serves neither its work requests nor their completions, which are what it proves: each one ends
 * once, on its path, in one of three handlers on threads of their own, with the status that its fault requires. A message
 * connection consumes the completions of its receives and sends on the polling thread, has no write with immediate data, and ends
 * with its first failure. Its credits are read by RDMA, so that the client posts without a message from the server.
 */
package io.ringpoll.verify.run;
