/** Preloaded: writes a line to stderr for each access that Node's permission model refuses, or would refuse. */
import { subscribe } from "node:diagnostics_channel";

/** The channels of https://nodejs.org/api/permissions.html. */
const SCOPES = ["fs", "net", "child", "worker", "inspector", "wasi", "addon", "openssl", "ffi"];

for (const scope of SCOPES) {
  subscribe(`node:permission-model:${scope}`, (message) => {
    console.error(`refused: ${scope} ${JSON.stringify(message)}`);
  });
}
