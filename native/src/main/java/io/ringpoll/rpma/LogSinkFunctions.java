package io.ringpoll.rpma;

/** The functions of {@code ringpoll_log.h}, by their C names; pointers are addresses. */
interface LogSinkFunctions {
    void ringpoll_log_set_level(int level);

    int ringpoll_log_fd();

    void ringpoll_log_arm();

    int ringpoll_log_next(long record);

    long ringpoll_log_lost();

    int ringpoll_error_errno();

    long ringpoll_error_text();

    void ringpoll_error_clear();
}
