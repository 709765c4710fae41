import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin, type HookPreset, type SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { closeRawSockets, dial } from "./_raw.ts";

const TOKEN = "hook-token-of-this-test-0123456789";
const hooks = { enabled: true, token: TOKEN } satisfies SvcConfigInput["hooks"];

const parcel: HookPreset = {
  id: "parcel",
  mappings: [{ match: { path: "parcel" }, action: "wake", textTemplate: "parcel {{id}}" }],
};
/** A plugin whose preset comes and goes with a switch of its own. */
const parcels = definePlugin<unknown>({
  id: "parcels",
  version: "1.0.0",
  svc: { api: "*" },
  setup: (ctx) => void ctx.registerHookPreset(parcel),
});

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "webhooks", parcels],
    models: [fakeModel(Array(500).fill("done"))],
  });
}, 90_000);
afterAll(() => gateway?.close());
beforeEach(async () => {
  await gateway.reload({ hooks });
});
afterEach(closeRawSockets);

async function post(path: string, body: object = { text: "hello", mode: "next-heartbeat" }, token = TOKEN) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const hooksOf = async () => await gateway.rpc<{ hooks: object; problems?: Record<string, string> }>("health", { probe: true });

describe("a reload", () => {
  test("switches hooks off and on: while they are off the path belongs to nobody", async () => {
    await gateway.reload({});
    expect(await post("/hooks/wake")).toEqual({ status: 404, text: "Not Found" });
    expect(await hooksOf()).toMatchObject({ hooks: { enabled: false } });

    await gateway.reload({ hooks });

    expect((await post("/hooks/wake")).status).toBe(200);
  });

  test("moves the path and takes the new token; the old ones open nothing", async () => {
    const token = "another-token-of-this-test-987654";
    await gateway.reload({ hooks: { ...hooks, token, path: "/in/bound/" } });

    expect((await post("/in/bound/wake", undefined, token)).status).toBe(200);
    expect((await post("/in/bound/wake")).status).toBe(401);
    expect(await post("/hooks/wake", undefined, token)).toEqual({ status: 404, text: "Not Found" });
    expect(await gateway.rpc("webhooks.list")).toMatchObject({ enabled: true, path: "/in/bound" });
  });

  test("row 8: a request whose body arrives across it is 409, and a connection that stays may try again", async () => {
    const { write, received } = await dial(gateway.gateway.port);
    const body = JSON.stringify({ text: "across", mode: "next-heartbeat" });
    const head = `POST /hooks/wake HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n`;
    write(`${head}${body.slice(0, 5)}`);
    await gateway.fetch("/healthz");

    await gateway.reload({ hooks: { ...hooks, maxBodyBytes: 4_096 } });
    write(body.slice(5));
    await eventually(() => received().includes("hook configuration changed; retry request"));
    write(`${head}${body}`);

    const statuses = () => [...received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
    await eventually(() => statuses().length === 2);
    expect(statuses()).toEqual([409, 200]);
  });

  test("a storm of them drops no request: each is stored once, or told to try again", async () => {
    let isOver = false;
    const accepted = new Map<string, string>();
    const statuses = new Set<number>();
    const sender = async (name: string) => {
      for (let i = 0; !isOver; i++) {
        const key = `${name}-${i}`;
        for (let status = 0; status !== 200; ) {
          const answer = await post("/hooks/agent", { message: key, deliver: false, idempotencyKey: key });
          status = answer.status;
          statuses.add(status);
          if (status === 200) accepted.set(key, JSON.parse(answer.text).runId);
          else if (status !== 409) throw new Error(`${status} ${answer.text}`);
        }
      }
    };
    const senders = ["a", "b", "c", "d"].map(sender);
    for (let i = 0; i < 20; i++) await gateway.reload({ hooks: { ...hooks, maxBodyBytes: 4_096 + i } });
    isOver = true;
    await Promise.all(senders);

    expect([...statuses].every((status) => [200, 409].includes(status))).toBe(true);
    expect(accepted.size).toBeGreaterThan(4);
    expect(new Set(accepted.values()).size).toBe(accepted.size);
    const [[key, runId] = []] = accepted;
    expect(JSON.parse((await post("/hooks/agent", { message: key, deliver: false, idempotencyKey: key })).text)).toEqual({
      ok: true,
      runId,
    });
  });

  test("a preset is known as soon as its plugin brings it, and gone with it", async () => {
    const on = { hooks: { ...hooks, presets: ["parcel"] } };
    await gateway.reload(on);
    expect((await post("/hooks/parcel", { id: 7 })).status).toBe(200);

    await gateway.reload({ ...on, plugins: { entries: { parcels: { enabled: false } } } });
    await eventually(async () => (await post("/hooks/parcel", { id: 8 })).status === 404);
    expect(await gateway.rpc("webhooks.list")).toMatchObject({ presets: [{ id: "parcel", isKnown: false }], mappings: [] });

    await gateway.reload(on);
    await eventually(async () => (await post("/hooks/parcel", { id: 9 })).status === 200);
  });
});

describe("what is broken takes itself out only", () => {
  test("a transform whose file comes later: it is told until then, and not any longer", async () => {
    const mapping = {
      id: "late",
      match: { path: "late" },
      action: "wake",
      wakeMode: "next-heartbeat",
      transform: { module: "late.ts" },
    } as const;
    await gateway.reload({ hooks: { ...hooks, mappings: [mapping] } });
    const told = async () => {
      const { mappings } = await gateway.rpc<{ mappings: Array<{ broken?: string }> }>("webhooks.list");
      const { findings } = await gateway.rpc<{ findings: Array<{ id: string; message: string }> }>("gateway.doctor");
      return {
        broken: mappings[0]?.broken,
        doctor: findings.find(({ id }) => id === "hooks/broken")?.message,
        health: (await hooksOf()).problems?.hooks,
      };
    };
    const missing = expect.stringContaining("hook transform module is not there");
    expect(await told()).toEqual({ broken: missing, doctor: missing, health: missing });

    const dir = join(gateway.stateDir, "hooks", "transforms");
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, "late.ts"), 'export default () => ({ text: "it is here" });');

    expect(await told()).toEqual({ broken: undefined, doctor: undefined, health: undefined });
    expect((await post("/hooks/late")).status).toBe(200);
  });

  test("a transform that leaves its folder: 500 for its mapping, the others serve, and everybody is told", async () => {
    const mapping = { id: "far", match: { path: "far" }, messageTemplate: "m", transform: { module: "../../far.ts" } };
    await gateway.reload({ hooks: { ...hooks, mappings: [mapping] } });

    expect(await post("/hooks/far")).toEqual({ status: 500, text: '{"ok":false,"error":"hook mapping failed"}' });
    expect((await post("/hooks/wake")).status).toBe(200);
    const told = expect.stringContaining("hook transform module path must be within");
    expect(await hooksOf()).toMatchObject({ ok: true, problems: { hooks: told } });
    expect(await gateway.rpc("webhooks.list")).toMatchObject({ mappings: [{ id: "far", transform: "../../far.ts", broken: told }] });
    const { findings } = await gateway.rpc<{ findings: unknown[] }>("gateway.doctor");
    expect(findings).toContainEqual(expect.objectContaining({ id: "hooks/broken", severity: "error", message: told }));
    expect(gateway.logs.some(({ level, message }) => level === "warn" && message.startsWith("hooks: hook transform module"))).toBe(true);
  });

  test("a transform that everybody may write: the same, until it is put right", async () => {
    const dir = join(gateway.stateDir, "hooks", "transforms");
    const file = join(dir, "note.mjs");
    await mkdir(dir, { recursive: true });
    await writeFile(file, "export default ({ payload }) => ({ text: 'noted ' + payload.n });\n");
    await chmod(file, 0o666);
    const mapping = { match: { path: "note" }, action: "wake" as const, transform: { module: "note.mjs" } };
    await gateway.reload({ hooks: { ...hooks, mappings: [mapping] } });
    expect((await post("/hooks/note", { n: 1 })).status).toBe(500);

    await chmod(file, 0o600);

    await eventually(async () => (await post("/hooks/note", { n: 2 })).status === 200);
  });

  test("a signature whose key cannot be had: its path stays shut, for the token as well", async () => {
    const verify = { provider: "github" as const, secret: { source: "env" as const, provider: "default", id: "NO_SUCH_KEY" } };
    const mapping = { id: "gh", match: { path: "github" }, messageTemplate: "m", verify };
    await gateway.reload({ hooks: { ...hooks, mappings: [mapping] } });

    expect((await post("/hooks/github")).status).toBe(401);
    expect(await hooksOf()).toMatchObject({ problems: { hooks: expect.stringContaining('mapping "gh"') } });
  });
});

describe("what operators are told", () => {
  test("mappings without templates and secrets, and the last deliveries without payloads", async () => {
    const mapping = {
      id: "st",
      match: { path: "stripe", source: "shop" },
      messageTemplate: "template-text",
      agentId: "main",
      allowUnsafeExternalContent: true,
      verify: { provider: "stripe" as const, secret: "whsec_secret", mode: "instead" as const },
    };
    await gateway.reload({ hooks: { ...hooks, mappings: [mapping] } });
    await post("/hooks/wake", { text: "payload-text", mode: "next-heartbeat" });
    const { runId } = JSON.parse((await post("/hooks/agent", { message: "payload-text", name: "Shop", deliver: false })).text);

    const [list, recent] = [
      await gateway.rpc("webhooks.list"),
      await gateway.rpc<{ deliveries: object[] }>("webhooks.recent", { limit: 2 }),
    ];

    expect(list).toMatchObject({
      enabled: true,
      path: "/hooks",
      isolation: "process",
      problems: [],
      mappings: [
        {
          id: "st",
          path: "stripe",
          source: "shop",
          action: "agent",
          agentId: "main",
          isUnsafe: true,
          verify: { provider: "stripe", mode: "instead" },
        },
      ],
    });
    expect(recent.deliveries).toMatchObject([
      { uid: runId, kind: "agent", path: "agent", name: "Shop", agentId: "main" },
      { kind: "wake", state: "done", path: "wake" },
    ]);
    for (const hidden of ["template-text", "payload-text", "whsec_secret", TOKEN])
      expect(JSON.stringify([list, recent])).not.toContain(hidden);
  });

  test("doctor names signatures instead of the token, and transforms inside the gateway", async () => {
    const verify = { provider: "stripe" as const, secret: "whsec_demo", mode: "instead" as const };
    const mappings = [{ match: { path: "stripe" }, messageTemplate: "m", verify }];
    await gateway.reload({ hooks: { ...hooks, mappings, transforms: { isolation: "off" } } });

    const { findings } = await gateway.rpc<{ findings: Array<{ id: string; severity: string; path?: string }> }>("gateway.doctor");

    const own = findings.filter(({ id }) => id.startsWith("hooks/"));
    expect(own).toMatchObject([
      { id: "hooks/isolation-off", severity: "error", path: "hooks.transforms.isolation" },
      { id: "hooks/signature-instead", severity: "info", path: "hooks.mappings.0.verify.mode" },
    ]);
  });
});

test("a gateway that stops answers in the form of this path, and stores nothing", async () => {
  const own = await createTestGateway({ plugins: ["store", "agents", "webhooks"], config: { hooks } });
  const hold = own.service("gateway@1").hold("a test looks at the door");
  const { write, received } = await dial(own.gateway.port);
  const closing = own.close();
  try {
    await eventually(() => own.service("gateway@1").info().phase === "draining");
    write(`POST /hooks/wake HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 2\r\n\r\n{}`);
    await eventually(() => received().includes("\r\n\r\n"));
    expect(received()).toContain("HTTP/1.1 503 ");
    expect(received()).toMatch(/^retry-after: [1-9]/im);
    expect(received()).toContain('{"ok":false,"error":"gateway_unavailable"}');
  } finally {
    void hold.dispose();
    await closing;
  }
});
