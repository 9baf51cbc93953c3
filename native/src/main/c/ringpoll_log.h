/*
 * ringpoll_log.h -- librpma's messages, kept in memory until Java fetches them
 *
 * librpma calls its log function from within the calls that Java makes, some of which are critical downcalls: such a
 * function may neither block nor call into Java. This one formats the message, leaves it in a ring, and returns.
 */
#ifndef RINGPOLL_LOG_H
#define RINGPOLL_LOG_H

#include <stdint.h>

#define RINGPOLL_EXPORT __attribute__((visibility("default")))

enum {
	RINGPOLL_LOG_FILE_SIZE = 32,
	RINGPOLL_LOG_FUNCTION_SIZE = 64,
	RINGPOLL_LOG_TEXT_SIZE = 512
};

/* One message; strings are terminated, and cut if they do not fit. */
struct ringpoll_log_record {
	int32_t level;	/* enum rpma_log_level */
	int32_t line;	/* in the source file; 0 if unknown */
	char file[RINGPOLL_LOG_FILE_SIZE];
	char function[RINGPOLL_LOG_FUNCTION_SIZE];
	char text[RINGPOLL_LOG_TEXT_SIZE];
};

/*
 * ringpoll_log -- the function for rpma_log_set_function(3); any thread, never blocks, keeps errno
 *
 * A message that finds the ring full is counted and lost. Two messages belong to ordinary answers and are not put into
 * the ring: a post to a full queue, and an event channel without an event.
 */
RINGPOLL_EXPORT void ringpoll_log(int level, const char *file, int line, const char *function, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* ringpoll_log_set_level -- messages above this level are not put into the ring; any thread */
RINGPOLL_EXPORT void ringpoll_log_set_level(int level);

/* ringpoll_log_fd -- an eventfd that is readable after ringpoll_log_arm() once there are messages; -1 with errno if none */
RINGPOLL_EXPORT int ringpoll_log_fd(void);

/*
 * ringpoll_log_arm -- asks for the eventfd to become readable at the next message, and clears it; the reading thread
 *
 * Earlier messages must be fetched afterwards, or they are not reported until the next one.
 */
RINGPOLL_EXPORT void ringpoll_log_arm(void);

/* ringpoll_log_next -- moves the oldest message out of the ring; 1, or 0 if there is none; one thread at a time */
RINGPOLL_EXPORT int ringpoll_log_next(struct ringpoll_log_record *record);

/* ringpoll_log_lost -- how many messages found the ring full since the start; any thread */
RINGPOLL_EXPORT uint64_t ringpoll_log_lost(void);

/*
 * ringpoll_error_errno -- the errno value that the calling thread's latest error message ends with
 *
 * librpma returns RPMA_E_PROVIDER where a provider's post fails and drops the reason, but its message contains the
 * strerror(3) text. 0 if there was no such message since ringpoll_error_clear().
 */
RINGPOLL_EXPORT int ringpoll_error_errno(void);

/* ringpoll_error_text -- the calling thread's latest error message; "" if none since ringpoll_error_clear() */
RINGPOLL_EXPORT const char *ringpoll_error_text(void);

/* ringpoll_error_clear -- forgets the calling thread's latest error message */
RINGPOLL_EXPORT void ringpoll_error_clear(void);

#endif
