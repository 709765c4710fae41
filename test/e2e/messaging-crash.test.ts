import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchClient } from "../../sdk/testing/wire-check.ts";
import type { ChildOptions } from "../fixtures/messaging-child.ts";
import { aroundMessages, configured, freshHome, gatewayIn, json, root, stopAll, token } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

/** Hands messages over to channels, as any plugin may. */
const sender = `
import { definePlugin, z } from "svc/sdk";
export default definePlugin({ id: "sender", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  ctx.registerRpc({ method: "sender.deliver", scope: "admin", params: z.looseObject({}), handler: (message) => ctx.service("messaging@1").deliver(message) });
  ctx.registerRpc({ method: "sender.wait", scope: "admin", params: z.looseObject({ uid: z.string() }), handler: ({ uid }) => ctx.service("messaging@1").waitDelivered(uid) });
} });`;

let home: Home;
/** `bin/svc.mjs` of the product with failpoints. */
let failing: string;

beforeAll(async () => {
  failing = await buildFailing();
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", compile, compiled], { cwd: root });
  home = await freshHome();
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  // The page is the channel.
  const plugins = { load: { paths: ["./sender.ts"] }, ...aroundMessages("control-ui", "sender") };
  await configured(home, { gateway: { mode: "local", auth: { token } }, plugins });
  await writeFile(join(home.stateDir, "sender.ts"), sender);
});
afterAll(stopAll);

async function connect({ url }: Running): Promise<SvcClient> {
  const client = watchClient(
    createClient({
      url: url.replace("http", "ws"),
      auth: { token },
      client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
      scopes: ["operator.read", "operator.write", "operator.admin"],
    }),
  );
  await client.connect();
  return client;
}

const message = (uid: string) => ({
  uid,
  sessionKey: "agent:main:hook:crash",
  agentId: "main",
  channel: "webchat",
  text: `text of ${uid}`,
  origin: "hook",
});

async function shown(client: SvcClient, uid: string): Promise<string[]> {
  const { messages } = await client.request("chat.history", { sessionKey: "agent:main:main", limit: 1_000 });
  const texts = (messages as Array<{ content: Array<{ text?: string }> }>).map(({ content }) =>
    content.map(({ text }) => text ?? "").join(""),
  );
  return texts.filter((text) => text === `text of ${uid}`);
}

test.each(["messaging.after-claim", "messaging.after-send"])(
  "kill -9 at %s: the message arrives once, with the next start",
  async (point) => {
    const dying = await gatewayIn({ ...home, program: failing }, [], failingAt(`${point}=kill`));
    const before = await connect(dying);
    const gone = once(dying.child, "close");
    const answer = await before.request("sender.deliver" as string, message(point)).catch(() => "unknown");
    expect((await gone)[1]).toBe("SIGKILL");
    await before.close();

    const gateway = await gatewayIn(home);
    const client = await connect(gateway);
    // A caller that got no answer hands the message over again.
    if (answer === "unknown") await client.request("sender.deliver" as string, message(point));
    expect(await client.request("sender.wait" as string, { uid: point })).toEqual({ state: "done", messageId: point });
    expect(await shown(client, point)).toEqual([`text of ${point}`]);
    await client.close();
    expect(await gateway.kill("SIGTERM")).toBe(0);
  },
);

test("svc channels queue shows what became of messages, and refuses to change one that has arrived", async () => {
  const gateway = await gatewayIn(home);
  const port = { SVC_GATEWAY_PORT: String(gateway.port) };
  const client = await connect(gateway);
  await client.request("sender.deliver" as string, message("plain"));
  await client.request("sender.wait" as string, { uid: "plain" });
  await client.close();

  const list = await json(home, ["channels", "queue", "list"], port);
  expect(list).toMatchObject({ code: 0, value: { messages: [], counts: { failed: 0 } } });
  const all = await json(home, ["channels", "queue", "list", "--all", "--limit", "1"], port);
  expect(all.value).toMatchObject({ messages: [{ uid: "plain", state: "done", lane: "webchat::agent:main:main" }] });
  for (const word of ["drop", "retry"]) {
    const refused = await svcCommand(home, ["channels", "queue", word, "plain"], port);
    expect(refused, refused.stderr).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("plain");
  }
});

/** The child and the threads of its store, compiled as the product is. */
const compiled = join(root, "test/.tmp/messaging-child");
const compile = `
  import { joinPart } from "./bin/join.mjs";
  for (const entry of ["plugins/store/open-store.ts", "test/fixtures/messaging-child.ts"]) await joinPart(entry, process.argv[1]);
`;
const script = `import("${pathToFileURL(join(compiled, "test/fixtures/messaging-child.js"))}").then((child) => child.runQueue(JSON.parse(process.argv[1])));`;

/** A process of its own that sends until it has said `until`; then it is killed. @returns what it said */
async function queueUntil(until: string, options: ChildOptions): Promise<string[]> {
  const child = spawn(process.execPath, ["-e", script, JSON.stringify(options)], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const said: string[] = [];
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    said.push(...text.split("\n").slice(said.length, -1));
    if (said.includes(until)) child.kill("SIGKILL");
  });
  await once(child, "close");
  return said;
}

test.each([
  [false, "failed", 2],
  [true, "done", 3],
])("kill -9 twice inside the call of a channel that knows repeats: %s, ends as %s after %i sends", async (isIdempotent, end, sends) => {
  const folder = join((await freshHome()).stateDir);
  await mkdir(folder, { recursive: true });
  const options = { path: join(folder, "state.sqlite"), platform: join(folder, "platform"), isIdempotent };

  expect(await queueUntil("sending", { ...options, uid: "m", hangs: true })).toEqual(["sending"]);
  expect(await queueUntil("sending", { ...options, hangs: true })).toEqual(["sending"]);
  const last = await queueUntil(end, { ...options, hangs: false });

  expect(last).toEqual(isIdempotent ? ["sending", "done"] : ["note", "failed"]);
  expect((await readFile(options.platform, "utf8")).trim().split("\n")).toEqual(Array(sends).fill("m"));
});

test("of messages under way together at a kill none is charged; they are sent one at a time until it is known who ends the process", async () => {
  const folder = join((await freshHome()).stateDir);
  await mkdir(folder, { recursive: true });
  const options = { path: join(folder, "state.sqlite"), platform: join(folder, "platform"), isIdempotent: true };
  const sent = async () => (await readFile(options.platform, "utf8")).trim().split("\n");

  await queueUntil("sending c", { ...options, uids: ["a", "b", "c"], hangs: true });
  expect((await sent()).toSorted()).toEqual(["a", "b", "c"]);
  await queueUntil("sending a", { ...options, hangs: true });
  expect((await sent()).slice(3)).toEqual(["a"]);
  // It was alone: it waits now, and the others go on, one after the other.
  expect(await queueUntil("done c", { ...options, hangs: false })).toEqual(["sending b", "done b", "sending c", "done c"]);
});
