/*
 * ringpoll_log.c -- librpma's messages, kept in memory until Java fetches them
 */
#define _GNU_SOURCE
#include "ringpoll_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	SLOTS = 256,		/* a power of two */
	LEVEL_ERROR = 1,	/* RPMA_LOG_LEVEL_ERROR */
	LEVEL_WARNING = 2,	/* RPMA_LOG_LEVEL_WARNING */
	LAST_ERRNO = 133	/* EHWPOISON */
};

/*
 * A bounded queue for many writers and one reader. A slot with sequence p is free for position p; its writer sets p + 1
 * when the record is whole; its reader sets p + SLOTS.
 */
struct slot {
	_Atomic uint64_t sequence;
	struct ringpoll_log_record record;
};

static struct slot ring[SLOTS];
static _Atomic uint64_t head;	/* next position to write */
static uint64_t tail;		/* next position to read; the reader's */
static _Atomic uint64_t lost;
static _Atomic int level_limit = LEVEL_WARNING;
static _Atomic bool armed;
static int event_fd = -1;
static pthread_once_t fd_once = PTHREAD_ONCE_INIT;

static __thread int error_errno;
static __thread char error_text[RINGPOLL_LOG_TEXT_SIZE];

static void __attribute__((constructor)) init_slots(void)
{
	for (uint64_t i = 0; i < SLOTS; i++)
		atomic_init(&ring[i].sequence, i);
}

static void copy_string(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/*
 * errno_of -- the errno value of the strerror(3) text at the end of a message, after the words of librpma that
 * introduce it; 0 if none
 */
static int errno_of(const char *text)
{
	static const char introduction[] = " failed: ";
	const char *meaning = NULL;

	for (const char *at = strstr(text, introduction); at; at = strstr(at + 1, introduction))
		meaning = at + sizeof(introduction) - 1;

	for (int e = 1; meaning && e <= LAST_ERRNO; e++)
		if (strcmp(meaning, strerror(e)) == 0)
			return e;
	return 0;
}

static bool is_ordinary(const char *format, int reason)
{
	return (reason == ENOMEM && strncmp(format, "ibv_post_", 9) == 0) ||
		(reason == EAGAIN && strncmp(format, "rdma_get_cm_event", 17) == 0);
}

static void put(int level, const char *file, int line, const char *function, const char *text)
{
	uint64_t position = atomic_load_explicit(&head, memory_order_relaxed);
	struct slot *slot;

	for (;;) {
		slot = &ring[position % SLOTS];
		/* acquire: the reader is done with the record before this thread overwrites it */
		uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);

		if (sequence < position) {
			atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
			return;
		}
		if (sequence > position) {
			position = atomic_load_explicit(&head, memory_order_relaxed);
			continue;
		}
		if (atomic_compare_exchange_weak_explicit(&head, &position, position + 1,
				memory_order_relaxed, memory_order_relaxed))
			break;
	}

	const char *base = file ? strrchr(file, '/') : NULL;

	slot->record.level = level;
	slot->record.line = file ? line : 0;
	copy_string(slot->record.file, sizeof(slot->record.file), base ? base + 1 : file);
	copy_string(slot->record.function, sizeof(slot->record.function), function);
	copy_string(slot->record.text, sizeof(slot->record.text), text);
	/* seq_cst, as the exchange: either the reader's last look sees the record, or this thread sees that it armed */
	atomic_store(&slot->sequence, position + 1);

	if (atomic_exchange(&armed, false)) {
		const uint64_t one = 1;
		ssize_t written = write(event_fd, &one, sizeof(one));
		(void) written;
	}
}

void ringpoll_log(int level, const char *file, int line, const char *function, const char *format, ...)
{
	const int saved_errno = errno;
	char text[RINGPOLL_LOG_TEXT_SIZE];
	va_list args;
	int reason = 0;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		copy_string(text, sizeof(text), format);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';

	if (level <= LEVEL_ERROR) {
		reason = errno_of(text);
		error_errno = reason;
		copy_string(error_text, sizeof(error_text), text);
	}
	if (level <= atomic_load_explicit(&level_limit, memory_order_relaxed) && !is_ordinary(format, reason))
		put(level, file, line, function, text);
	errno = saved_errno;
}

void ringpoll_log_set_level(int level)
{
	atomic_store_explicit(&level_limit, level, memory_order_relaxed);
}

static void open_fd(void)
{
	event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

int ringpoll_log_fd(void)
{
	pthread_once(&fd_once, open_fd);
	return event_fd;
}

void ringpoll_log_arm(void)
{
	uint64_t count;
	ssize_t got = read(event_fd, &count, sizeof(count));

	(void) got;
	atomic_store(&armed, true);
}

int ringpoll_log_next(struct ringpoll_log_record *record)
{
	struct slot *slot = &ring[tail % SLOTS];

	if (atomic_load(&slot->sequence) != tail + 1)
		return 0;
	*record = slot->record;
	/* release: the record is copied before a writer may have the slot */
	atomic_store_explicit(&slot->sequence, tail + SLOTS, memory_order_release);
	tail++;
	return 1;
}

uint64_t ringpoll_log_lost(void)
{
	return atomic_load_explicit(&lost, memory_order_relaxed);
}

int ringpoll_error_errno(void)
{
	return error_errno;
}

const char *ringpoll_error_text(void)
{
	return error_text;
}

void ringpoll_error_clear(void)
{
	error_errno = 0;
	error_text[0] = '\0';
}
