import { expect, it } from "vitest";
import { securityHeaders } from "../../../src/gateway/web/security-headers.ts";

it("a page whose lines end with CR LF has the policy that a browser computes, which reads LF", () => {
  const page = "<script>\nrun();\n</script><style>\nb {}\n</style>";
  const checkedOut = page.replaceAll("\n", "\r\n");
  expect(securityHeaders(Buffer.from(checkedOut))).toEqual(securityHeaders(Buffer.from(page)));
});
