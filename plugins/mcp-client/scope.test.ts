import { expect, test } from "vitest";
import type { Fetch } from "./library.ts";
import { hasScope, joinedScopes, ScopeRefusal, wantedIn, withScopeRefusals } from "./scope.ts";

test.each<[string, string | null, object | undefined]>([
  ["the rights of a refusal", 'Bearer error="insufficient_scope", scope="files:read files:write"', { scope: "files:read files:write" }],
  ["those of one that says no more than them", "Bearer scope=write", { scope: "write" }],
  [
    "where to ask for them",
    'bearer scope="write", resource_metadata="https://a.example/meta"',
    { scope: "write", metadataUrl: "https://a.example/meta" },
  ],
  ["no address that is none", 'Bearer scope="write", resource_metadata="there"', { scope: "write" }],
  ["nothing of a token that has ended", 'Bearer error="invalid_token", scope="write"', undefined],
  ["nothing where no rights are named", 'Bearer error="insufficient_scope"', undefined],
  ["no characters that a right cannot have", 'Bearer scope="wr\\ite \u{1f989}"', undefined],
  ["nothing of another scheme", 'Basic realm="x", scope="write"', undefined],
  ["nothing of a flood", `Bearer scope="${"x ".repeat(4_000)}"`, undefined],
  ["nothing of silence", null, undefined],
])("reads %s", (_name, challenge, wanted) => {
  expect(wantedIn(challenge)).toEqual(wanted);
});

test("rights are counted once, and a login has them or not", () => {
  expect(joinedScopes("a b", "b c")).toBe("a b c");
  const login = {
    url: "https://a.example",
    redirectUrl: "http://127.0.0.1:1/",
    issuer: "i",
    byIssuer: { i: { tokens: { scope: "a b" } } },
  };
  expect([hasScope(login, "b a"), hasScope(login, "a c"), hasScope({ ...login, issuer: "other" }, "a")]).toEqual([true, false, false]);
});

test("a refusal for want of rights is taken apart at the address of the server, and nowhere else", async () => {
  const refuse: Fetch = async () => new Response("no", { status: 403, headers: { "www-authenticate": 'Bearer scope="write"' } });
  const guarded = withScopeRefusals(refuse, "https://a.example/mcp");
  await expect(guarded("https://a.example/mcp")).rejects.toEqual(new ScopeRefusal({ scope: "write" }));
  expect((await guarded("https://login.example/token")).status).toBe(403);
  const forbid: Fetch = async () => new Response("no", { status: 403 });
  expect((await withScopeRefusals(forbid, "https://a.example/mcp")("https://a.example/mcp")).status).toBe(403);
});
