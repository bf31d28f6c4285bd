/** Keys of callers, as authentication finds them, and the providers that they may ask about. */
import { createFindProvider } from "../../src/auth/provider.ts";
import type { CallerKey } from "../../src/handler.ts";

/** A key of a provider. */
export const providerKey = (providerId: string): CallerKey => ({
  kind: "provider",
  id: "5",
  providerId,
});

/** A service key. */
export const serviceKey = (id = "12"): CallerKey => ({
  kind: "service",
  id,
  name: "billing export",
});

/** Finds providers where the database has every one that is asked for. */
export const findAnyProvider = createFindProvider((work) =>
  work({
    query: async (_sql, ids) => [ids],
    transaction: (inside) => inside(),
  }),
);
