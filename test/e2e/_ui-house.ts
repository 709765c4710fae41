import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import type { ModelRequest } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { expect } from "vitest";
import { createTalkPlatform } from "../fixtures/talk-platform.ts";

/** Gateway with something to see in every view. */
export interface House {
  gateway: TestGateway;
  /** Id of a run that searched the notes, for its explain view. */
  runId: string;
  /** A person writes to a channel and waits to be let in. */
  knock(name: string): Promise<unknown>;
  close(): Promise<void>;
}

const usage = { input: 1_840, output: 212, cacheRead: 900, cacheWrite: 0, total: 2_952, cost: 0.0104 };
const answer = `The router stands **in the hall**, on the second shelf beside the meter.

| Light | Means |
|---|---|
| green | connected |
| orange, blinking | no line: restart it and wait two minutes |

Its password is on the sticker below.

Source: memory/house.md#L3-L5`;

/** Searches the notes before it answers a question about the router. */
function talk(request: ModelRequest) {
  const asked = JSON.stringify(request.messages.findLast(({ role }) => role === "user"));
  if (asked.includes("long story")) return { text: "Once upon a time ", hang: true, usage };
  const isAsked = asked.includes("router");
  if (!isAsked) return { text: "Three letters are open, the oldest is from the water company.", usage };
  if (request.messages.at(-1)?.role === "tool") return { text: answer, usage };
  return { toolCalls: [{ name: "memory_search", args: { query: "router shelf" } }], usage };
}

const workspace = {
  "MEMORY.md": "# What to keep in mind\n\nAna likes short answers.\n",
  "SOUL.md": "# Soul\n\nCalm and short.\n",
  "memory/house.md":
    "# House\n\nThe router stands in the hall, on the second shelf.\nGreen means connected.\nThe password is on the sticker below.\n",
  "memory/garden.md": "# Garden\n\nThe roses are cut in March.\n",
  "memory/letters.md": "# Letters\n\nThe water company waits for the meter reading.\n",
};

export async function createHouse(): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), "svc-ui-house-"));
  const platform = createTalkPlatform();
  const gateway = await createTestGateway({
    plugins: [
      ...["store", "agents", "messaging", "memory-core", "webhooks", "cron", "operator", "devices", "approvals", "usage", "audit"],
      ...["mcp-client", "control-ui", platform.plugin, await brokenPlugin(folder)],
    ],
    models: [fakeModel(Array(40).fill(talk), { id: "house", info: { contextWindow: 32_000, cost: { input: 10, output: 20 } } })],
    workspace,
    config: {
      agents: {
        defaults: { memorySearch: { provider: "none" } },
        list: [
          { id: "main", default: true },
          { id: "garden", name: "Garden", memorySearch: { enabled: false } },
        ],
      },
      channels: { talk: { token: "good", accounts: { away: { token: "wrong" } } } },
      hooks: {
        enabled: true,
        token: "hook-token-of-this-test-0123456789",
        mappings: [{ id: "mail", match: { path: "mail" }, name: "Mail", messageTemplate: "New mail: {{subject}}" }],
      },
      mcp: { servers: { papers: { command: process.execPath, args: ["-e", "process.exit(1)"] } } },
    },
  });
  await gateway.service("memory@1").sync("main");
  const runId = await ask(gateway, "agent:main:router", "Where is the router?");
  await ask(gateway, "agent:main:letters", "What is still open of the letters that came last week, and which of them is the oldest?");
  await ask(gateway, "agent:garden:roses", "When are the roses cut?");
  await gateway.rpc("sessions.patch", { key: "agent:main:letters", label: "Letters of last week", pinned: true });
  const morning = { kind: "cron", expr: "0 7 * * 1-5", tz: "Europe/Zurich" };
  const payload = { kind: "agentTurn", message: "Tell me in five sentences what is still open." };
  await gateway.rpc("cron.add", { name: "Morning", schedule: morning, sessionTarget: "isolated", wakeMode: "now", payload });
  await fetch(`${gateway.url}/hooks/mail`, {
    method: "POST",
    headers: { authorization: "Bearer hook-token-of-this-test-0123456789", "content-type": "application/json" },
    body: JSON.stringify({ subject: "Meter reading" }),
  });
  askToBePaired(gateway);
  await writeLog(gateway);
  const knock = (name: string) => platform.say("hello", { sender: { id: `@${name}`, name }, peer: { id: `@${name}` } });
  await knock("Eve");
  return {
    gateway,
    runId,
    knock,
    close: async () => {
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ask(gateway: TestGateway, sessionKey: string, message: string): Promise<string> {
  const { runId } = await gateway.rpc<{ runId: string }>("chat.send", { sessionKey, message, idempotencyKey: `ask-${sessionKey}` });
  await gateway.rpc("agent.wait", { runId });
  return runId;
}

/** Some lines of a morning. */
async function writeLog(gateway: TestGateway): Promise<void> {
  const { file } = await gateway.rpc<{ file: string }>("logs.tail", {});
  await mkdir(dirname(file), { recursive: true });
  const lines = [
    ["info", "gateway/agents", "a run has ended"],
    ["debug", "gateway/memory", "4 files looked through, none has changed"],
    ["warn", "gateway/channels", "talk/away: the token is not of the right form"],
    ["info", "gateway/cron", "the job Morning is planned"],
    ["error", "gateway/plugins", "weather: expected a key of the weather service, got none"],
  ];
  const ts = new Date().toISOString();
  await writeFile(file, lines.map(([level, subsystem, msg]) => `${JSON.stringify({ ts, level, subsystem, msg })}\n`).join(""));
}

/** A phone asks to be paired, and waits. */
export function askToBePaired(gateway: TestGateway, n = 1): void {
  const device = {
    ...{ deviceId: `${n}`.repeat(64), publicKey: "k".repeat(43), displayName: `Phone ${n}`, platform: "web" },
    ...{ clientId: "svc-control-ui", clientMode: "ui", role: "operator" as const, scopes: ["operator.read" as const] },
  };
  gateway.service("devices@1").ask(device, { remoteIp: "192.0.2.7", isRepair: false });
}

/** A plugin that does not start. */
async function brokenPlugin(folder: string): Promise<string> {
  const path = join(folder, "weather");
  await mkdir(path, { recursive: true });
  const manifest = {
    id: "weather",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    name: "Weather",
    description: "Tells the weather of a place.",
  };
  await writeFile(join(path, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(path, "index.ts"), 'throw new Error("expected a key of the weather service, got none");\n');
  return path;
}

/** Every view of the house by its address, with what is seen when it is there. */
export function viewsOf({ runId }: House): Array<[name: string, address: string]> {
  const plain = ["overview", "sessions", "memory", "channels", "webhooks", "plugins", "devices", "agents", "models", "schedule", "mcp"];
  return [
    ...plain.map((view): [string, string] => [view, `#/${view}`]),
    ...["config", "usage", "logs", "audit", "about"].map((view): [string, string] => [view, `#/${view}`]),
    ["chat", "#/chat/agent%3Amain%3Arouter"],
    ["chat-empty", "#/chat/agent%3Amain%3Achat-0123456789"],
    ["explain", `#/explain/${runId}`],
    ["memory-hits", "#/memory?q=router"],
    ["memory-file", "#/memory/file/memory/house.md?l=3-5"],
    ["agent-file", "#/agents?a=main&file=SOUL.md"],
  ];
}

/** Goes to a view and waits until nothing in it is being fetched. */
export async function show(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  await expect
    .poll(() => page.evaluate(() => document.querySelector("main > *") !== null && !document.querySelector("main .waiting")))
    .toBe(true);
}
