import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createTestGateway, eventually, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwnWeb } from "../fakes/own-web.ts";
import { createTalkPlatform } from "../fixtures/talk-platform.ts";
import { collectGarbage } from "../kernel/_garbage.ts";
import { assistantModel } from "./_assistant-model.ts";
import { growth, type Sample } from "./_soak-figures.ts";

/** Three days of a person and an assistant: 600 turns with notes, lists, reminders, pages and questions, by a clock that is moved. */

const seed = Number(process.env.SVC_TEST_SEED ?? Math.random().toString().slice(2, 8));
const DAYS = 3;
const TURNS_A_DAY = 200;
const MINUTE = 60_000;
/** Growth of the heap in the second half of the time. The transcript is on disk; what grows with it in memory is a fault. */
const MOST_GROWTH_MB = 6;

const start = new Date(2026, 0, 5, 7).getTime();
const clock = fakeClock(start);
const platform = createTalkPlatform();
const model = assistantModel();
let gw: TestGateway;
let web: Server;
let origin: string;

let state = seed;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

const people = ["Nora", "Emil", "Ines", "Paul", "Clara", "Jonas", "Marta", "Felix", "Greta", "Otto"];
const matters = ["dentist", "birthday", "door code", "favourite tea", "shoe size", "train station"];
const words = "harbour lantern meadow copper violin ferry orchard granite almond compass heron thistle barley quartz willow".split(" ");
const lists = ["groceries", "garden", "trip to the coast", "repairs"];
const errands = ["water the plants", "call the plumber", "take out the bread", "leave for the train", "pay the rent"];
const sentence = () => `${Array.from({ length: 12 }, () => pick(words)).join(" ")}.`;

const ownWeb = createOwnWeb();

beforeAll(async () => {
  web = createServer((request, response) => {
    const title = `All about the ${decodeURIComponent(request.url?.slice(1) ?? "")}`;
    const paragraphs = Array.from({ length: 60 }, () => `<p>${Array.from({ length: 3 }, sentence).join(" ")}</p>`).join("\n");
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${title}</title><article><h1>${title}</h1>${paragraphs}</article>`);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", "memory-core", "tools-workspace", "cron", platform.plugin, ownWeb.plugin],
    models: [model.provider],
    clock,
    logLevel: "warn",
    config: {
      agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" }, memorySearch: { provider: "none" } } },
      messages: { inbound: { debounceMs: 0 } },
      channels: { talk: { token: "good", allowFrom: ["@ada"] } },
    },
  });
  await eventually(() => platform.running.has("default"));
}, 120_000);
afterAll(async () => {
  await gw?.close();
  await ownWeb.close();
  web?.close();
});

interface Fact {
  about: string;
  value: string;
  /** Day on which it was told. */
  day: string;
}
interface Reminder {
  at: number;
  text: string;
}

const facts: Fact[] = [];
const onLists = new Map<string, string[]>();
const reminders: Reminder[] = [];
const dueAt: Reminder[] = [];

const dayOf = (at: number) => {
  const day = new Date(at);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
};

/** A matter that was not told yet. */
function newFact(): Fact | undefined {
  const open = people
    .flatMap((who) => matters.map((what) => `${who}'s ${what}`))
    .filter((about) => !facts.some((fact) => fact.about === about));
  if (open.length === 0) return undefined;
  return { about: pick(open), value: `${pick(words)} ${10 + random(90)}`, day: dayOf(clock.now()) };
}

/** The next words of the person, and those that have to come back. */
function nextTurn(turn: number): { says: string; hears: RegExp | string } {
  const kind = turn % 10;
  if (kind === 0 || kind === 5) {
    const fact = newFact();
    if (fact) {
      facts.push(fact);
      const isInPassing = random(4) === 0;
      if (isInPassing) return { says: `By the way, ${fact.about} is ${fact.value}.`, hears: "Good to know." };
      return { says: `Remember that ${fact.about} is ${fact.value}.`, hears: /^I have noted it in memory\/\S+\.md\.$/ };
    }
  }
  const known = facts.filter(({ about }) => model.noted.has(about));
  if ((kind === 1 || kind === 6) && known.length > 0) {
    const { about, value } = pick(known);
    return { says: `What is ${about}?`, hears: `${about} is ${value}.` };
  }
  if (kind === 2) {
    const [list, thing] = [pick(lists), `${pick(words)} ${turn}`];
    onLists.set(list, [...(onLists.get(list) ?? []), thing]);
    return { says: `Put ${thing} on my list "${list}".`, hears: `It is on the list, which has ${onLists.get(list)?.length} now.` };
  }
  if (kind === 7 && onLists.size > 0) {
    const list = pick([...onLists.keys()]);
    return { says: `What is on my list "${list}"?`, hears: `${onLists.get(list)?.join(", ")}.` };
  }
  if (kind === 3 && turn % 20 === 3) {
    const minutes = 7 + random(43);
    const what = `${pick(errands)} (${turn})`;
    dueAt.push({ at: clock.now() + minutes * MINUTE, text: `It is time to ${what}.` });
    return { says: `Remind me in ${minutes} minutes to ${what}.`, hears: /^I will remind you on \w+ at \d\d:\d\d\.$/ };
  }
  if (kind === 4 || kind === 8) {
    const about = `${pick(words)} ${turn}`;
    return { says: `Read ${origin}/${encodeURIComponent(about)} and tell me what it is about.`, hears: `It is about the ${about}.` };
  }
  return { says: pick(["Good morning.", "How are you?", "Thank you."]), hears: "I am here if you need me." };
}

async function hear(says: string, isOnTalk: boolean): Promise<string> {
  if (!isOnTalk) {
    const request = { message: says, sessionKey: "agent:main:main", trigger: "user" as const, actor: { kind: "rpc" as const, scopes: [] } };
    const { text, error } = await (await gw.service("agents@1").run(request)).done;
    return text || `failed: ${error}`;
  }
  const before = platform.sent.length;
  await platform.say(says);
  await eventually(async () => {
    await clock.advance(20);
    return platform.sent.length > before;
  }, 20_000);
  return platform.sent
    .slice(before)
    .map(({ text }) => text)
    .join("\n");
}

const deliveries = (text: string) => platform.sent.filter((message) => message.text === text);

/** Moves the clock, and waits at each reminder until it has arrived. */
async function pass(ms: number): Promise<void> {
  const end = clock.now() + ms;
  for (;;) {
    const next = dueAt.toSorted((a, b) => a.at - b.at)[0];
    if (next === undefined || next.at > end) break;
    await clock.advance(Math.max(0, next.at - clock.now()));
    await eventually(async () => {
      await clock.advance(20);
      return deliveries(next.text).length > 0;
    }, 20_000).catch(() => expect.fail(`no reminder: ${next.text}`));
    expect(clock.now() - next.at).toBeLessThan(MINUTE);
    dueAt.splice(dueAt.indexOf(next), 1);
    reminders.push(next);
  }
  await clock.advance(Math.max(0, end - clock.now()));
}

function heapMb(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

interface Row {
  role: string;
  isError?: boolean;
  __svc: { kind?: string };
  content: Array<{ type: string; text?: string; name?: string; arguments?: object }>;
}

test(`three days with an assistant lose no fact, deliver each reminder once, and leave memory as it was (seed ${seed})`, async () => {
  const samples: Sample[] = [];
  const excerpts: string[] = [];
  for (let turn = 0; turn < DAYS * TURNS_A_DAY; turn++) {
    if (turn > 0 && turn % TURNS_A_DAY === 0) {
      excerpts.push(excerptOf(await transcript()));
      await pass(start + (turn / TURNS_A_DAY) * 24 * 60 * MINUTE - clock.now());
    }
    const { says, hears } = nextTurn(turn);
    // Reminders are planned from the page of the operator; the rest is said here and there. Answers on the platform follow the first message there.
    const isOnTalk = turn === 0 || (!says.startsWith("Remind") && random(12) === 0);
    const heard = await hear(says, isOnTalk);
    expect(heard, `turn ${turn}: ${says}`).toEqual(
      typeof hears === "string" ? expect.stringContaining(hears) : expect.stringMatching(hears),
    );
    if (turn % 20 === 19) samples.push({ minute: turn, heapMb: heapMb() } as Sample);
    await pass(5 * MINUTE);
  }
  const rows = await transcript();
  excerpts.push(excerptOf(rows));
  process.stdout.write(`\n${excerpts.at(-1)}\n`);

  expect(model.compactions).toBeGreaterThan(DAYS);
  await expectFound();
  for (const [list, things] of onLists)
    expect(await readFile(join(gw.workspace, `lists/${list}.md`), "utf8")).toBe(`${things.map((thing) => `- ${thing}`).join("\n")}\n`);
  expect(reminders.length).toBeGreaterThan(DAYS * 8);
  for (const { text } of reminders) expect([text, deliveries(text).length]).toEqual([text, 1]);
  const grown = growth(samples.slice(Math.floor(samples.length / 2)), (sample) => sample.heapMb);
  process.stdout.write(`heap: ${samples.map((sample) => Math.round(sample.heapMb)).join(" ")} MB, growth ${grown.toFixed(1)} MB\n`);
  expect(grown).toBeLessThan(MOST_GROWTH_MB);
  expectReadable(rows);
}, 900_000);

/** Each fact that was written to notes is found, in the note of the day and in the lines that the source names. */
async function expectFound(): Promise<void> {
  const noted = facts.filter(({ about }) => model.noted.has(about));
  expect(noted.length).toBeGreaterThan(facts.length * 0.8);
  const target = { agentId: "main", sessionKey: "agent:main:main", signal: AbortSignal.timeout(120_000) };
  for (const { about, value } of noted) {
    const { content } = await gw.service("agents@1").invokeTool("memory_search", { query: about }, target);
    const { results } = JSON.parse(content[0]?.type === "text" ? content[0].text : "{}") as {
      results: Array<{ path: string; startLine: number; endLine: number }>;
    };
    const passages = results.map(async ({ path, startLine, endLine }) => {
      const lines = (await readFile(join(gw.workspace, path), "utf8")).split("\n");
      return lines.slice(startLine - 1, endLine).some((line) => line.includes(`${about} is ${value}.`)) ? path : undefined;
    });
    expect([about, await Promise.all(passages)]).toEqual([about, expect.arrayContaining([`memory/${model.noted.get(about)}.md`])]);
  }
}

async function transcript(): Promise<Row[]> {
  const { messages } = await gw.rpc<{ messages: Row[] }>("chat.history", { sessionKey: "agent:main:main", limit: 1_000 });
  return messages;
}

/** The rows around the last summary, as a person reads them. */
function excerptOf(rows: readonly Row[]): string {
  const at = Math.max(
    0,
    rows.findLastIndex(({ __svc: { kind } }) => kind === "compaction"),
  );
  return rows
    .slice(Math.max(0, at - 12), at + 24)
    .map(lineOf)
    .join("\n");
}

function lineOf({ role, __svc: { kind }, isError, content }: Row): string {
  const parts = content.map((block) =>
    block.type === "toolCall" ? `[${block.name} ${JSON.stringify(block.arguments)}]` : (block.text ?? `[${block.type}]`),
  );
  return `${role}${kind ? ` (${kind})` : ""}${isError ? " (error)" : ""}: ${parts.join(" ").slice(0, 400)}`;
}

/** Each question has one answer before the next, no call failed, and nothing is shown that only models should see. */
function expectReadable(rows: readonly Row[]): void {
  const said = rows.filter(
    ({ role, content, __svc: { kind } }) =>
      role === "user" || (role === "assistant" && kind !== "compaction" && content.every(({ type }) => type === "text")),
  );
  const twice = said.filter((row, i) => row.role === said[i - 1]?.role).map(lineOf);
  expect(twice).toEqual([]);
  expect(rows.filter(({ isError }) => isError).map(lineOf)).toEqual([]);
  const answers = said.filter(({ role }) => role === "assistant").map(lineOf);
  expect(answers.filter((line) => /NO_REPLY|EXTERNAL_UNTRUSTED|I do not know/.test(line))).toEqual([]);
}
