import type { ToolResult } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeMcpOAuth, startMcpOAuth } from "../../test/fakes/mcp-oauth.ts";
import { needsMcp } from "../../test/servers/mcp-peers.ts";

const { describe, test } = await needsMcp("mcp-client");

const redirectUrl = "http://127.0.0.1:45678/callback";
let server: FakeMcpOAuth;
let gw: TestGateway;

const statusOf = async () =>
  (await gw.rpc<{ servers: Array<{ state: string; problem?: string }> } & Record<string, unknown>>("mcp.status")).servers[0];
const stateOf = async () => (await statusOf())?.state;
const inState = (state: string) => eventually(async () => (await stateOf()) === state);
const begin = async () =>
  (await gw.rpc<{ authorizationUrl?: string } & Record<string, unknown>>("mcp.login.start", { server: "guarded", redirectUrl }))
    .authorizationUrl;
/** Agrees in place of a person. @returns the query that the browser is sent back with */
async function agree(address: string): Promise<string> {
  const { headers } = await fetch(address, { redirect: "manual" });
  return new URL(headers.get("location") ?? "").search.slice(1);
}
const finish = (query: string) => gw.rpc("mcp.login.finish", { server: "guarded", query });
const whoami = () =>
  gw
    .service("agents@1")
    .invokeTool("mcp_guarded_whoami", {}, { ...gw.service("agents@1").resolve({}), signal: AbortSignal.timeout(20_000) });
const said = () => whoami().then(textOf, (error: Error) => error.message);
async function loggedIn(): Promise<void> {
  await finish(await agree((await begin()) as string));
  await inState("ready");
}
const textOf = ({ content }: ToolResult) => content.map((part) => ("text" in part ? part.text : "")).join("\n");

describe("a server that wants a login", () => {
  beforeEach(async () => {
    server = await startMcpOAuth();
    gw = await createTestGateway({
      plugins: ["store", "agents", "mcp-client"],
      config: { mcp: { servers: { guarded: { url: server.url, headers: { "x-api-key": "hunter2-secret" } } } } },
    });
    await inState("login");
  });
  afterEach(async () => {
    await gw?.close();
    await server?.close();
  });

  test("gets tokens for a person, renews them, and loses them with a logout", async () => {
    await finish(await agree((await begin()) as string));
    await inState("ready");
    await eventually(async () => textOf(await whoami()).includes("you are ***"));
    server.expire();
    expect(textOf(await whoami())).toContain("you are ***");
    expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
    expect(await statusOf()).toMatchObject({ loggedIn: true });
    expect(await gw.rpc("mcp.logout", { server: "guarded" })).toEqual({ ok: true, removed: true });
    await inState("login");
    expect(await statusOf()).toMatchObject({ loggedIn: false });
    expect(server.faults).toEqual([]);
    expect(JSON.stringify(gw.logs)).not.toMatch(/hunter2|access-|refresh-/);
  });

  test("may let anybody connect, and want the login for its tools", async () => {
    for (const method of ["initialize", "notifications/initialized"]) server.open.add(method);
    await finish(await agree((await begin()) as string));
    await inState("ready");
    await eventually(async () => textOf(await whoami()).includes("you are ***"));
    expect(server.faults).toEqual([]);
  });

  test("is sent the header of the config, and its authorization server is not", async () => {
    await finish(await agree((await begin()) as string));
    await inState("ready");
    const own = server.keys.filter(([path]) => path === "/mcp" || path.startsWith("/.well-known/oauth-protected"));
    expect(new Set(own.map(([, key]) => key))).toEqual(new Set(["hunter2-secret"]));
    const foreign = server.keys.filter(([path]) => ["/register", "/token", "/.well-known/oauth-authorization-server"].includes(path));
    expect(foreign.length).toBeGreaterThan(2);
    expect(foreign.every(([, key]) => key === undefined)).toBe(true);
  });

  test("is not logged in at by an answer to another login, twice, or without one", async () => {
    await expect(finish("code=1&state=2")).rejects.toMatchObject({ message: expect.stringContaining("no login is waiting") });
    const query = await agree((await begin()) as string);
    const forged = query.replace(/state=[^&]+/, "state=forged");
    await expect(finish(forged)).rejects.toMatchObject({ message: expect.stringContaining("belongs to another login") });
    await finish(query);
    await expect(finish(query)).rejects.toMatchObject({ message: expect.stringContaining("no login is waiting") });
  });

  test("cannot make the gateway ask an address inside", async () => {
    for (const address of ["https://localhost:1", "https://169.254.169.254", "https://[::1]:8443", "http://example.com"]) {
      server.nameIssuer(address);
      await expect(begin()).rejects.toMatchObject({
        message: expect.stringMatching(/not one of the public network|expected an https address/),
      });
    }
  });

  test("that wants more rights for a call gets them with the next login, which keeps those that there were", async () => {
    await loggedIn();
    for (const scope of ["files:read", "files:write"]) {
      server.wants.set("tools/call", scope);
      await eventually(async () => (await said()).includes(`(${scope}); the operator may allow them with svc mcp login guarded`));
      expect(await statusOf()).toMatchObject({ state: "ready", problem: expect.stringContaining("svc mcp login guarded") });
      await finish(await agree((await begin()) as string));
      await eventually(async () => (await said()).includes("you are ***"));
    }
    expect(server.askedScopes).toEqual([null, "files:read", "files:read files:write"]);
    expect(await statusOf()).not.toHaveProperty("problem");
    expect(await begin()).toBeUndefined();
    expect(server.faults).toEqual([]);
  });

  test("that refuses a call although the login has the rights is not logged in at again and again", async () => {
    await loggedIn();
    server.wants.set("tools/call", "files:write");
    await eventually(async () => (await said()).includes("svc mcp login guarded"));
    await finish(await agree((await begin()) as string));
    await eventually(async () => (await said()).includes("you are ***"));
    server.narrow();
    expect(await said()).toContain("the login cannot be widened");
    expect(await begin()).toBeUndefined();
  });

  test("keeps its login while another one has begun", async () => {
    await loggedIn();
    server.wants.set("tools/call", "files:write");
    await eventually(async () => (await said()).includes("svc mcp login guarded"));
    await begin();
    server.wants.delete("tools/call");
    await gw.rpc("plugins.reload", { plugins: [{ pluginId: "mcp-client" }] });
    await eventually(async () => (await said()).includes("you are ***"));
  });

  test("that has a login asks for no other", async () => {
    await finish(await agree((await begin()) as string));
    await inState("ready");
    expect(await gw.rpc("mcp.login.start", { server: "guarded", redirectUrl })).toEqual({ ok: true });
  });
});

describe("a server where the client was registered by hand", () => {
  const client = { id: "svc-of-ann", secret: "s3cret-of-the-client" };
  beforeEach(async () => {
    server = await startMcpOAuth({ client });
    gw = await createTestGateway({
      plugins: ["store", "agents", "mcp-client"],
      env: { TRACKER_SECRET: client.secret },
      config: configOf(client.id),
    });
    await inState("login");
  });
  afterEach(async () => {
    await gw?.close();
    await server?.close();
  });

  const configOf = (clientId: string) => ({
    mcp: {
      servers: { guarded: { url: server.url, oauth: { clientId, clientSecret: { source: "env" as const, id: "TRACKER_SECRET" } } } },
    },
  });

  test("gets its name and its secret, registers nothing, and another client has no part in its login", async () => {
    await finish(await agree((await begin()) as string));
    await inState("ready");
    await eventually(async () => textOf(await whoami()).includes("you are ***"));
    server.expire();
    expect(textOf(await whoami())).toContain("you are ***");
    expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
    expect(server.faults).toEqual([]);
    expect(server.keys.map(([path]) => path)).not.toContain("/register");
    expect(JSON.stringify([gw.logs, await statusOf()])).not.toContain(client.secret);

    await gw.reload(configOf("another"));
    await inState("login");
  });
});
