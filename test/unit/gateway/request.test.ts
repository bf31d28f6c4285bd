import { expect, test } from "vitest";
import { credentialsOf } from "../../../src/gateway/request.ts";

test.each<[string[], string[], string[]]>([
  [[], [], []],
  [["Host", "a"], [], []],
  [["X-API-Key", "k"], ["k"], []],
  [["authorization", "Bearer k"], [], ["Bearer k"]],
  [["X-Api-Key", "k", "AUTHORIZATION", "Bearer k"], ["k"], ["Bearer k"]],
  [["Authorization", "Bearer a", "authorization", "Bearer b"], [], ["Bearer a", "Bearer b"]],
  [["x-api-key", "a", "Host", "h", "X-API-KEY", "b"], ["a", "b"], []],
  [["x-api-key", ""], [""], []],
  [["Host", "x-api-key", "X-Other-Key", "k"], [], []],
])("the credentials in %j", (rawHeaders, xApiKey, authorization) => {
  expect(credentialsOf(rawHeaders)).toEqual({ xApiKey, authorization });
});
