import { expect, test } from "vitest";
import { type Failure, failureOf, reasonOf } from "./failures.ts";
import { ScopeRefusal } from "./scope.ts";

const coded = (code: unknown, more: object = {}) => Object.assign(new Error("x"), { code, ...more });
const fetchFailed = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("inner"), { code }) });

test.each<[string, unknown, Failure]>([
  ["a closed connection", coded("CONNECTION_CLOSED"), "lost"],
  ["no connection", coded("NOT_CONNECTED"), "unsent"],
  ["a time-out", coded("REQUEST_TIMEOUT"), "timeout"],
  ["a session that is gone", coded("CLIENT_HTTP_NOT_IMPLEMENTED", { status: 404 }), "lost"],
  ["a session that is gone, for others", coded("CLIENT_HTTP_NOT_IMPLEMENTED", { data: { status: 400 } }), "lost"],
  ["a refusal", coded("CLIENT_HTTP_NOT_IMPLEMENTED", { status: 401 }), "login"],
  ["a refusal after a login", Object.assign(new Error("x"), { name: "UnauthorizedError" }), "login"],
  ["a login with too few rights", new ScopeRefusal({ scope: "write" }), "scope"],
  ["one that the library wrapped", new Error("send failed", { cause: new ScopeRefusal({ scope: "write" }) }), "scope"],
  ["a server that fails", coded("CLIENT_HTTP_NOT_IMPLEMENTED", { status: 500 }), "answered"],
  ["an error of JSON-RPC", coded(-32_603), "answered"],
  ["nobody there", fetchFailed("ECONNREFUSED"), "unsent"],
  ["a name that is none", fetchFailed("ENOTFOUND"), "unsent"],
  ["a socket that broke", fetchFailed("UND_ERR_SOCKET"), "lost"],
  ["a plain error", new Error("x"), "answered"],
  ["a text", "x", "answered"],
  ["nothing", undefined, "answered"],
])("%s", (_name, error, failure) => {
  expect(failureOf(error)).toBe(failure);
});

test("the reason names what is behind a failed fetch", () => {
  expect(reasonOf(fetchFailed("ECONNREFUSED"))).toBe("fetch failed (ECONNREFUSED)");
  expect(reasonOf(new Error("outer", { cause: new Error("inner") }))).toBe("outer: inner");
  expect(reasonOf(new Error("plain"))).toBe("plain");
});
