/**
 * How long the tests, and what they start, wait for anything at most, in ms: for an event, a process, an
 * answer. It is far more than any of them takes on a busy machine, so only what hangs takes so long.
 */
export const TIME_LIMIT = 600_000;
