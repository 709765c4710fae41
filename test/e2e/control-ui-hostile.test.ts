import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { MessageRow, SessionRow, StoreOp } from "svc/sdk";
import { CRON_SCOPE, cronJobKey } from "svc/sdk/internal";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { createTalkPlatform } from "../fixtures/talk-platform.ts";
import { needs } from "../servers/needs.ts";
import { hostileTexts } from "../tools/hostile-texts.ts";
import { desktop, launchChromium, phone } from "./_browser.ts";
import { expectUnharmed, isOneColumn, visitView } from "./_ui.ts";

const { test } = needs("chromium");

/** Names that a file system takes. */
const fileNames = hostileTexts.filter((text) => !/[/\0]/.test(text) && Buffer.byteLength(text) < 200 && text.trim() === text);
/** Names that a config takes: the gateway refuses what nobody can read. */
const printable = hostileTexts.filter((text) => !/\p{C}/u.test(text) && text.length < 200);
const all = hostileTexts.join("\n\n");
const platform = createTalkPlatform();

let folder: string;
let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-ui-hostile-"));
  const strange = await Promise.all([0, 1, 2].map((n) => strangePlugin(n)));
  const notes = Object.fromEntries(fileNames.map((name) => [`memory/${name}.md`, `# ${name}\n\nzebra\n`]));
  gateway = await createTestGateway({
    plugins: [
      ...["store", "agents", "messaging", "memory-core", "webhooks", "cron", "operator", "devices", "usage", "audit", "control-ui"],
      platform.plugin,
      ...strange,
    ],
    models: [fakeModel(Array(20).fill("Done."))],
    workspace: { ...notes, "MEMORY.md": `# zebra\n\n${all}`, "SOUL.md": all },
    config: {
      agents: {
        defaults: { memorySearch: { provider: "none" } },
        list: [
          { id: "main", default: true },
          ...printable
            .slice(0, 12)
            .map((name, i) => ({ id: `agent-${i}`, name, identity: { name, emoji: "x" }, memorySearch: { enabled: false } })),
        ],
      },
      channels: { talk: { token: "good" } },
      hooks: {
        enabled: true,
        token: "hook-token-of-this-test-0123456789",
        mappings: printable.map((name, i) => ({ id: `m${i}`, match: { path: `p${i}` }, name, messageTemplate: name })),
      },
      plugins: { entries: Object.fromEntries([0, 1, 2].map((n) => [`strange-${n}`, { enabled: true }])) },
    },
  });
  await store();
  await gateway.service("memory@1").sync("main");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A plugin whose every text is hostile, and which fails with all of them. */
async function strangePlugin(n: number): Promise<string> {
  const path = join(folder, `strange-${n}`);
  await mkdir(path, { recursive: true });
  const mine = hostileTexts.filter((_, i) => i % 3 === n);
  const name = mine.find((text) => text.length < 80);
  const description = mine.join(" ").slice(0, 1_000);
  const manifest = { id: `strange-${n}`, version: "1.0.0", svc: { api: "^1.0.0" }, name, description };
  await writeFile(join(path, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(path, "index.ts"), `throw new Error(${JSON.stringify(mine.join(" "))});\n`);
  return path;
}

/** Each text as title, preview, message, tool, result, job, delivery, log line, device and person. */
async function store(): Promise<void> {
  const at = Date.now() - 3_600_000;
  const rows = hostileTexts.map((text, i) =>
    session(`agent:main:${i}`, { at: at + i, label: text, lastMessagePreview: text, model: text }),
  );
  const talk = session("agent:main:talk", { at, label: "Talk" });
  const jobs = hostileTexts.map((text, i) => ({
    op: "kv.put" as const,
    scope: CRON_SCOPE,
    key: cronJobKey(`job-${i}`),
    value: job(text, i),
  }));
  await commit([...rows, talk].map((row) => ({ op: "session.put", session: row })));
  await commit(hostileTexts.flatMap((text, i) => turn(talk.sessionId, text, i)).map((message) => ({ op: "message.append", message })));
  await commit(jobs);
  await commit(hostileTexts.flatMap(delivery));
  await gateway.rpc("plugins.reload", { plugins: [{ pluginId: "cron" }] });
  const { file } = await gateway.rpc<{ file: string }>("logs.tail", {});
  await mkdir(dirname(file), { recursive: true });
  const line = (text: string) =>
    JSON.stringify({
      ts: new Date(at).toISOString(),
      level: text,
      subsystem: `gateway/${text}`,
      msg: text,
      [text]: text,
      err: { stack: text },
    });
  await writeFile(file, hostileTexts.map((text) => `${line(text)}\n${text}\n`).join(""));
  for (const [i, text] of printable.slice(0, 8).entries()) {
    const device = {
      deviceId: `${i}`.repeat(64),
      publicKey: "k".repeat(43),
      displayName: text,
      platform: text,
      clientId: "svc-control-ui",
    };
    const asked = { ...device, clientMode: "ui", role: "operator" as const, scopes: ["operator.read" as const] };
    gateway.service("devices@1").ask(asked, { remoteIp: "192.0.2.7", isRepair: false });
    await platform.say(text, { sender: { id: `@${i}`, name: text }, peer: { id: `@${i}` } });
    await gateway.rpc("agents.update", { agentId: `agent-${i}`, name: text.slice(0, 64) }).catch(() => undefined);
  }
}

/** In commits of an even number of writes: a delivery is accepted and ended in one. */
async function commit(ops: StoreOp[]): Promise<void> {
  for (let i = 0; i < ops.length; i += 200) await gateway.service("store@2").commit(ops.slice(i, i + 200));
}

function session(key: string, { at, ...facts }: Partial<SessionRow> & { at: number }): SessionRow {
  const tokens = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const marks = { archived: false, pinned: false, unread: false };
  const times = { createdAt: at, updatedAt: at, sessionStartedAt: at };
  return { key, sessionId: `id-${key}`, agentId: "main", kind: "direct", ...times, ...tokens, ...marks, ...facts };
}

/** A question, a call of a tool with its result, and an answer. */
function turn(sessionId: string, text: string, i: number): Array<Omit<MessageRow, "seq">> {
  const common = { sessionId, ts: Date.now() - 600_000 + i, runId: `run-${i}` };
  const call = { type: "toolCall" as const, id: `call-${i}`, name: text.slice(0, 60) || "tool", arguments: { [text]: text } };
  return [
    { ...common, id: `q-${i}`, role: "user", content: [{ type: "text", text }] },
    { ...common, id: `c-${i}`, role: "assistant", content: [call] },
    {
      ...{ ...common, id: `r-${i}`, role: "toolResult", toolCallId: call.id, toolName: call.name, isError: i % 2 === 0 },
      content: [{ type: "text", text }],
    },
    { ...common, id: `a-${i}`, role: "assistant", content: [{ type: "text", text }], provider: text, model: text },
  ];
}

function job(text: string, i: number) {
  const at = Date.now();
  return {
    ...{ id: `job-${i}`, name: printable.includes(text) ? text : `Job ${i}`, enabled: true, sessionTarget: "main", wakeMode: "now" },
    ...{ createdAtMs: at, updatedAtMs: at, configRevision: 1, log: { first: 0, next: 0, bytes: 0 } },
    ...{ schedule: { kind: "every", everyMs: 86_400_000, anchorMs: at }, payload: { kind: "systemEvent", text } },
    state: { consecutiveErrors: 1, lastStatus: "error", lastError: text.slice(0, 2_000), nextRunAtMs: at + 86_400_000 },
  };
}

function delivery(text: string, i: number): StoreOp[] {
  const [uid, at] = [`delivery-${i}`, Date.now() - i * 1_000];
  const lane = `agent:main:hook:${uid}`;
  const action = {
    ...{ kind: "agent", path: text, agentId: "main", isFallbackAgent: false, message: text, name: text },
    ...{ sessionKey: lane, sessionMode: "isolated", wakeMode: "next-heartbeat", deliver: false, channel: "last" },
  };
  const base = { uid, dir: "hook-agent" as const, lane, expiresAt: at + 86_400_000, payload: { v: 1, action } };
  const result = { status: "error", reason: text, about: { path: text, name: text, agentId: "main" } };
  return [
    { op: "delivery.accept", delivery: base, at },
    { op: "delivery.finish", uid, from: ["accepted"], state: "failed", result, at },
  ];
}

/** Views of the page by the names in its addresses. */
async function viewsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(async () => {
    const main = document.querySelector("script[src$='/main.js']").src;
    return Object.keys((await import(new URL("core/router.js", main))).viewNames);
  })()`);
}

async function go(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  await expect.poll(() => page.locator("main .waiting").count()).toBe(0);
}

/** Elements that reach beyond the right edge of the page, for the message of a failure. */
async function widest(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("main *")]
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
      .map((e) => `${e.tagName} .${e.getAttribute("class")} ${Math.round(e.getBoundingClientRect().right)} ${e.textContent.slice(0, 60)}`)
      .slice(0, 12),
  );
}

/** Shows all of a list, and what its first rows open to. */
async function unfold(page: Page): Promise<void> {
  const more = page.locator("main").getByRole("button", { name: "Show more" }).first();
  for (let pages = 0; pages < 5 && (await more.count()) > 0; pages++) await more.click({ timeout: 3_000 }).catch(() => undefined);
  for (let rows = 0; rows < 4; rows++) {
    const closed = page.locator("main button[aria-expanded=false]:not([popovertarget])").nth(rows);
    if ((await closed.count()) > 0) await closed.click();
  }
}

test.each([
  ["1440", desktop],
  ["390", phone],
])(
  `at least 200 hostile texts do nothing in any view and break no layout, %s px wide`,
  async (_width, screen) => {
    expect(new Set(hostileTexts).size).toBe(hostileTexts.length);
    expect(hostileTexts.length).toBeGreaterThanOrEqual(200);
    const tab = await visitView(browser, gateway, "#/overview", screen);
    const { page } = tab;
    const foreign: string[] = [];
    const wide: string[] = [];
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== gateway.url && protocol !== "data:" && protocol !== "blob:") foreign.push(request.url());
    });
    const check = async (name: string) => {
      await expectUnharmed(page);
      if (!(await isOneColumn(page))) wide.push(`${name}: ${(await widest(page)).join(" | ")}`);
      await tab.picture(`hostile-${name}-${_width}`);
    };
    for (const view of await viewsOf(page)) {
      await go(page, `#/${view}`);
      if (view !== "chat") await unfold(page);
      await check(view);
    }
    for (const address of ["memory?q=zebra", "memory/file/MEMORY.md?q=", "memory/file/MEMORY.md?q=&e=1", "agents?a=main&file=SOUL.md"]) {
      await go(page, `#/${address}`);
      await check(address.replace(/\W+/g, "-"));
    }
    await go(page, "#/chat/agent%3Amain%3Atalk");
    const transcript = page.locator(".transcript");
    await transcript.locator(".turn").first().waitFor();
    await page.locator(".tool summary").last().click();
    await check("chat-end");
    for (let screens = 0; screens < 15; screens++) await transcript.press("PageUp");
    await check("chat-middle");
    await transcript.press("Home");
    await check("chat-start");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    for (const text of ["<img src=x onerror=pwned=1>", "__proto__", "%E0%A4%A", "constructor"]) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/${text}/${text}?a=${text}&q=${text}`);
      await page.getByText("There is no page at this address.").waitFor();
      await check("address");
    }
    expect(wide, "wider than the screen").toEqual([]);
    expect(foreign).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.leave();
  },
  120_000,
);
