/** Where the service is: a proxy may serve it below a path, so that addresses of the pages are relative. */

/** The base URL, without a slash at its end: `https://example.com/revenue`. */
export const SERVICE_URL = new URL(".", location.href).href.replace(/\/$/, "");
