/** Ties a process to the one that started it: where that is gone, it ends too. */
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// The channel alone must not keep the process alive.
process.channel?.unref();
