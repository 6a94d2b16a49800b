/** The exit codes of a command that a signal has stopped: 128 plus the number of the signal, as shells define it. */
export const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143, SIGPIPE: 141 } as const;
