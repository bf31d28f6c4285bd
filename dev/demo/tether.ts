/**
 * Ties a process to the one that started it: `node --import tether.ts …` with an
 * IPC channel. When the parent is gone, even by `kill -9`, the channel closes
 * and the process is told to end in good order.
 */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The channel alone must not keep the process alive.
process.channel?.unref();
