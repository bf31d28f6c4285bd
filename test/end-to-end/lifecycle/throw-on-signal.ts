/**
 * Preloaded into a service with `--import`: SIGUSR2 throws an error outside of all calls, and rejects a promise. The
 * error has the fields of a driver's error, whose `sql` and message hold the values of the statement.
 */
process.on("SIGUSR2", () => {
  const error = Object.assign(new Error("SELECT 'secret' - Lost connection"), {
    code: "ER_TEST",
    sqlMessage: "Lost connection",
    sql: "SELECT 'secret'",
  });
  Promise.reject(error);
  throw error;
});
