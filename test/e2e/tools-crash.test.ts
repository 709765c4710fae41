import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, freshHome, gatewayIn, stopAll, stopLater, token } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import type { Home, Running } from "./_process.ts";

/**
 * A plugin with a model and two tools. The model asks for both at once, `balance`, which only reads, then `charge`, which writes a line that nobody takes back; then it
 * repeats what it read about them. A charge whose name begins with "held" does not come back.
 */
const shop = `
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin } from "svc/sdk";
const file = join(import.meta.dirname, "charges.log");
const text = ({ content }) => content.map((part) => part.text ?? "").join(" ");
export default definePlugin({ id: "shop", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  ctx.registerTool({ name: "balance", description: "Reads the balance.", input: { type: "object", properties: {} }, readOnly: true, run: () => "12 left" });
  ctx.registerTool({
    name: "charge", description: "Charges an account.", input: { type: "object", properties: { name: { type: "string" } } },
    async run({ name }, { signal }) {
      await appendFile(file, name + "\\n");
      if (name.startsWith("held")) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return name + " was charged";
    },
  });
  ctx.registerModelProvider({
    id: "shop", name: "Shop", defaultModel: "shop", models: () => [{ id: "shop", name: "Shop", input: ["text"] }], available: () => ({ ok: true }),
    async *stream({ messages }) {
      const asked = messages.findLastIndex(({ role }) => role === "user");
      const name = /mark:([\\w-]+):/.exec(text(messages[asked]))?.[1];
      const results = messages.slice(asked + 1).filter(({ role }) => role === "tool");
      if (name !== undefined && results.length === 0) {
        for (const [tool, args] of [["balance", {}], ["charge", { name }]]) {
          yield { type: "toolCall", id: tool + "-" + name, name: tool, argsDelta: JSON.stringify(args) };
          yield { type: "toolCallEnd", id: tool + "-" + name };
        }
        yield { type: "finish", reason: "tool_calls" };
        return;
      }
      const read = (name === undefined ? messages.filter(({ role }) => role === "tool") : results).map((m) => m.text);
      yield { type: "text", delta: "I read: " + read.join(" | ") };
      yield { type: "finish", reason: "stop" };
    },
  });
} });`;

/** Result of a call of which nobody knows how far it came. */
const UNKNOWN =
  "(interrupted: the run ended before this call's result was stored; it may have had its effect, so check before you call it again)";

interface Step {
  /** Moment of the kill; undefined: the test kills it while the tool is at work. */
  point?: string;
  /** Passes of that moment until the kill. */
  pass?: number;
  /** Times that the tool had its effect when all was over. */
  charges: number;
  /** Whether the results of the calls are lost. */
  isLost: { balance?: boolean; charge?: boolean };
}

/**
 * Steps of the run of a job, the last first: what goes on after a kill at one of them passes none that is named after it, so the gateway that goes on is the one that is killed
 * next. A model that is told that a call may have had its effect does not make it again; a run whose call was not stored makes it for the first time.
 */
const steps: Record<string, Step> = {
  "before-the-last-answer": { point: "agents.before-end", charges: 1, isLost: {} },
  "results-stored": { point: "agents.after-results", pass: 2, charges: 1, isLost: {} },
  "result-not-stored": { point: "agents.after-tool", pass: 2, charges: 1, isLost: { charge: true } },
  "held-while-it-runs": { charges: 1, isLost: { charge: true } },
  "before-it-begins": { point: "agents.before-tool", pass: 2, charges: 0, isLost: { charge: true } },
  "calls-stored": { point: "agents.after-calls", charges: 0, isLost: { balance: true, charge: true } },
  "calls-not-stored": { point: "agents.before-calls", charges: 1, isLost: {} },
  // The slot is taken, and its run is not accepted yet. The job before goes on through the same moment.
  "slot-taken": { point: "cron.after-claim", pass: 2, charges: 1, isLost: {} },
};

let failing: string;
let home: Home;
let gateway: Running;
let client: SvcClient;

beforeAll(async () => {
  failing = await buildFailing();
  home = await freshHome();
  home.program = failing;
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "shop/shop" } },
    plugins: { load: { paths: ["./shop.ts"] }, allow: ["store", "agents", "cron", "shop"] },
  });
  await writeFile(join(home.stateDir, "shop.ts"), shop);
});
afterAll(stopAll);

async function start(env: Record<string, string> = {}): Promise<void> {
  gateway = await gatewayIn(home, [], env);
  client = createClient({
    url: gateway.url.replace("http", "ws"),
    auth: { token },
    client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
    scopes: ["operator.admin", "operator.read", "operator.write"],
  });
  stopLater(client.close.bind(client));
  await client.connect();
}

async function killedAt(name: string): Promise<void> {
  const { child, out } = gateway;
  await eventually(() => child.exitCode !== null || child.signalCode !== null).catch(() =>
    expect.fail(`${name}: the gateway goes on: ${out.stderr.slice(-2_000)}`),
  );
  expect(child.signalCode, name).toBe("SIGKILL");
  await client.close();
}

/** Lines that the tool has written for a name. */
async function chargesOf(name: string): Promise<number> {
  const lines = await readFile(join(home.stateDir, "charges.log"), "utf8").catch(() => "");
  return lines.split("\n").filter((line) => line === name).length;
}

interface Block {
  type: string;
  text?: string;
  name?: string;
}
type Row = { role: string; isError?: boolean; content: Block[] };

/** Rows of a session, each in one line. */
async function rowsOf(sessionKey: string): Promise<string[]> {
  const { messages } = await client.request("chat.history", { sessionKey });
  return (messages as unknown as Row[]).map(({ role, isError, content }) => {
    const blocks = content.map((block) => (block.type === "text" ? block.text : `[${block.name}]`));
    return `${role}${isError ? " (error)" : ""}: ${blocks.join(" ")}`;
  });
}

/** Adds a job whose one time comes in a moment. */
async function planned(name: string): Promise<string> {
  const job = await client.request("cron.add", {
    name,
    schedule: { kind: "at", at: new Date(Date.now() + 1_000).toISOString() },
    sessionTarget: "isolated",
    wakeMode: "now",
    deleteAfterRun: false,
    payload: { kind: "agentTurn", message: `mark:${name}:` },
  });
  return (job as { id: string }).id;
}

/** Ends of the one time of a job, the newest first. */
async function runsOf(id: string): Promise<Array<{ status: string; runId: string; error?: string }>> {
  return (await client.request("cron.runs", { id })).entries;
}

const runEnds = (id: string) => eventually(async () => (await runsOf(id)).some(({ status }) => status === "ok"));

test("kill -9 at each step of runs with tools: no tool with side effects and no slot runs twice, and the transcript says where nobody knows", {
  timeout: 180_000,
}, async () => {
  const jobs: string[] = [];
  for (const [name, { point, pass = 1 }] of Object.entries(steps)) {
    await start(point === undefined ? {} : failingAt(`${point}=kill@${pass}`));
    const before = jobs.at(-1);
    if (before !== undefined) await runEnds(before);
    jobs.push(await planned(name));
    if (point === undefined) {
      // Beside it a run that nobody comes back for.
      void client.request("agent", { message: "mark:held-person:", sessionKey: "person", idempotencyKey: "person" }).catch(() => undefined);
      for (const one of [name, "held-person"]) await eventually(async () => (await chargesOf(one)) === 1);
      gateway.child.kill("SIGKILL");
    }
    await killedAt(name);
  }

  await start();
  for (const [i, [name, { charges, isLost }]] of Object.entries(steps).entries()) {
    const id = jobs[i] as string;
    await runEnds(id);
    const runs = await runsOf(id);
    const runId = runs[0]?.runId ?? "none";
    expect([name, runs]).toMatchObject([
      name,
      [{ status: "ok" }, { status: "error", runId, error: expect.stringContaining("interrupted: ") }],
    ]);
    expect([name, await chargesOf(name)]).toEqual([name, charges]);
    expect(await rowsOf(`cron:${id}:run:${runId}`)).toEqual([expect.stringContaining(`mark:${name}:`), ...turnOf(name, isLost)]);
  }

  // Nobody asked again for the run of the person: its transcript says what is known, and the next answer rests on it.
  expect((await rowsOf("person")).slice(1)).toEqual(turnOf("held-person", { charge: true }).slice(0, -1));
  const asked = { message: "What became of it?", sessionKey: "person", idempotencyKey: "later" };
  await client.request("agent", asked, { onAccepted: () => undefined });
  expect((await rowsOf("person")).at(-1)).toBe(`assistant: I read: 12 left | ${UNKNOWN}`);
  expect(await chargesOf("held-person")).toBe(1);
});

/** The rows of a turn behind its message. */
function turnOf(name: string, isLost: Step["isLost"]): string[] {
  const texts = [isLost.balance ? UNKNOWN : "12 left", isLost.charge ? UNKNOWN : `${name} was charged`];
  const results = texts.map((text) => `toolResult${text === UNKNOWN ? " (error)" : ""}: ${text}`);
  return ["assistant: [balance] [charge]", ...results, `assistant: I read: ${texts.join(" | ")}`];
}
