package io.ringpoll.rpma;

/**
 * The levels of librpma's log, each with the level it gets in {@link System.Logger}.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_threshold.3.html">rpma_log_set_threshold(3)</a>
 */
public enum LogLevel {
    /** Nothing is logged ({@code RPMA_LOG_DISABLED}). */
    DISABLED(-1, System.Logger.Level.OFF),
    /** The library cannot continue. */
    FATAL(0, System.Logger.Level.ERROR),
    /** The library does not work properly. */
    ERROR(1, System.Logger.Level.ERROR),
    /** Something that the level above can deal with. */
    WARNING(2, System.Logger.Level.WARNING),
    /** Connections made and ended. */
    NOTICE(3, System.Logger.Level.INFO),
    /** Every operation. */
    INFO(4, System.Logger.Level.DEBUG),
    /** Details of every operation, and every empty poll. */
    DEBUG(5, System.Logger.Level.TRACE);

    private final int value;
    private final System.Logger.Level level;

    LogLevel(final int value, final System.Logger.Level level) {
        this.value = value;
        this.level = level;
    }

    /**
     * The value of the C constant.
     *
     * @return of {@code enum rpma_log_level}
     */
    public int value() {
        return value;
    }

    /**
     * The level in Java's log.
     *
     * @return the one that librpma's messages of this level get
     */
    public System.Logger.Level systemLevel() {
        return level;
    }

    static LogLevel of(final int value) {
        for (final LogLevel level : values()) {
            if (level.value == value) {
                return level;
            }
        }
        throw new IllegalArgumentException("librpma has no log level " + value);
    }
}
