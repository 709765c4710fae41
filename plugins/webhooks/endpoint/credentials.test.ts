import { describe, expect, test } from "vitest";
import { digestOf, hasQueryToken, isToken, presentedToken } from "./credentials.ts";

const url = (query: string) => new URL(`http://h/hooks/agent${query}`);

describe("a token in the address", () => {
  test.each(["?token=x", "?token", "?a=b&access_token=x", "?AUTH=x", "?key=x", "?%74oken=x", "?a&token="])("%s is seen", (query) => {
    expect(hasQueryToken(url(query))).toBe(true);
  });

  test.each(["", "?", "?tokens=x", "?a=token", "?event=key"])("%j is none", (query) => {
    expect(hasQueryToken(url(query))).toBe(false);
  });
});

describe("the token of a request", () => {
  test.each([
    ["the bearer", { authorization: "Bearer one" }, "one"],
    ["the bearer in any case, with spaces around", { authorization: "bEARER   one " }, "one"],
    ["the bearer beside the other form", { authorization: "Bearer one", "x-svc-token": "two" }, "one"],
    ["x-svc-token", { "x-svc-token": " two " }, "two"],
    ["x-svc-token beside an empty bearer", { authorization: "Bearer ", "x-svc-token": "two" }, "two"],
    ["x-svc-token beside another scheme", { authorization: "Basic dTpw", "x-svc-token": "two" }, "two"],
    ["none", {}, undefined],
    ["none in blank headers", { authorization: "Bearer", "x-svc-token": " " }, undefined],
  ] as Array<[string, Record<string, string>, string | undefined]>)("is %s", (_name, headers, token) => {
    expect(presentedToken(new Headers(headers))).toBe(token);
  });

  test.each([
    ["the same", "secret-of-the-hooks", true],
    ["missing", undefined, false],
    ["empty", "", false],
    ["a beginning", "secret", false],
    ["longer", "secret-of-the-hooks!", false],
    ["another case", "Secret-of-the-hooks", false],
    ["with a NUL", "secret-of-the-hooks\0", false],
  ])("%s", (_name, presented, isRight) => {
    expect(isToken(presented, digestOf("secret-of-the-hooks"))).toBe(isRight);
  });
});
