import { setMaxListeners } from "node:events";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { IrcUser } from "../servers/irc-user.ts";
import { token } from "./_cli.ts";
import { postHook } from "./_hooks.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";
import { backendClient } from "./_storm.ts";

export interface Load {
  /** How often each kind of work succeeded. */
  readonly done: Readonly<Record<string, number>>;
  /** The first of what went wrong. */
  readonly failures: readonly string[];
  /** Ends when the work at hand is done. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  gateway: Running;
  home: Home;
  /** Config whose copies with another pattern are the reloads. */
  config: object;
  /** Somebody in the room, where IRC is there. */
  person?: IrcUser | undefined;
  /** Periods are divided by it. */
  speed: number;
}

const NOTES = 20;
/** Sessions that are in use together, and how many messages each gets before another one takes its place. */
const KEYS = 4;
const MESSAGES = 25;
const LASTING = ["agent:main:main", "agent:main:irc:group:#kitchen"];

/** Everything that people and machines do with a gateway, each kind in its own rhythm, until it is stopped. */
export function startLoad(options: LoadOptions): Load {
  const done: Record<string, number> = {};
  const failures: string[] = [];
  const end = new AbortController();
  setMaxListeners(0, end.signal); // one listener for each kind
  const loops = kindsOf(options).map(async ({ name, everyMs, act }) => {
    for (let i = 0; !end.signal.aborted; i++) {
      await pause(everyMs / options.speed, end.signal);
      if (end.signal.aborted) return;
      const problem = await act(i).catch((error: unknown) => String(error));
      if (typeof problem === "string") failures.push(`${name} ${i}: ${problem.slice(0, 300)}`);
      else done[name] = (done[name] ?? 0) + 1;
    }
  });
  return {
    done,
    failures,
    async stop() {
      end.abort();
      await Promise.all(loops);
    },
  };
}

interface Kind {
  name: string;
  everyMs: number;
  /** @returns what is wrong, if anything is */
  act(i: number): Promise<string | undefined>;
}

function kindsOf({ gateway, home, config, person }: LoadOptions): Kind[] {
  const at = (path: string, init: RequestInit = {}) => asked(gateway, path, init);
  const chat = (body: object, key: string) =>
    at("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-svc-session-key": key },
      body: JSON.stringify({ model: "svc", ...body }),
    });
  const messages = (content: string) => [{ role: "user", content }];
  const kinds: Kind[] = [
    {
      name: "chat",
      everyMs: 2_000,
      act: async (i) => expected("You said: hello", await chat({ messages: messages(`hello ${i}`) }, keyOf(i))),
    },
    {
      name: "streamed chat",
      everyMs: 3_000,
      act: async (i) => expected("[DONE]", await chat({ stream: true, messages: messages(`hello ${i}`) }, `streamed-${keyOf(i)}`)),
    },
    { name: "WebSocket client", everyMs: 3_000, act: (i) => visit(gateway, i) },
    {
      name: "webhook",
      everyMs: 5_000,
      act: async (i) => {
        const answer = await postHook(gateway.url, { body: { message: `delivery ${i}` }, key: `soak-${i}` });
        return answer !== "unknown" && answer.status === 200 ? undefined : JSON.stringify(answer);
      },
    },
    {
      name: "edited note",
      everyMs: 7_000,
      act: async (i) => {
        const text = `# Day ${i % NOTES}\n\nThe router of day ${i % NOTES} was seen ${i} times in the cupboard.\n`;
        await writeFile(join(home.stateDir, "workspace/memory", `day-${i % NOTES}.md`), text);
        return undefined;
      },
    },
    {
      name: "search",
      everyMs: 5_000,
      act: async (i) => {
        const body = JSON.stringify({ tool: "memory_search", args: { query: `router of day ${i % NOTES}` } });
        return expected('"ok":true', await at("/tools/invoke", { method: "POST", headers: { "content-type": "application/json" }, body }));
      },
    },
    { name: "new beginning", everyMs: 120_000, act: () => beginAnew(gateway) },
    { name: "reload", everyMs: 30_000, act: (i) => writeConfig(home, { ...config, logging: { redactPatterns: [`edit-${i}`] } }) },
    { name: "backup", everyMs: 150_000, act: (i) => backUp(home, i) },
    { name: "scrape", everyMs: 15_000, act: async () => expected("svc_", await at("/metrics")) },
  ];
  if (person) kinds.push({ name: "IRC", everyMs: 6_000, act: (i) => askInRoom(person, i) });
  return kinds;
}

const keyOf = (i: number) => `soak-${i % KEYS}-${Math.floor(i / (KEYS * MESSAGES))}`;

/** Connects, looks around, speaks, and leaves: with a closing frame, or by cutting the line. */
async function visit(gateway: Running, i: number): Promise<undefined> {
  const client = backendClient(gateway);
  await client.connect();
  const request = (method: string, params: object) => client.request(method as never, params as never) as Promise<unknown>;
  try {
    await request("health", {});
    await request("sessions.list", {});
    if (i % 3 === 0)
      await request("chat.send", { sessionKey: `visits-${keyOf(i)}`, message: `visit ${i}`, idempotencyKey: `visit-${i}-${gateway.port}` });
  } finally {
    await client.close();
  }
  return undefined;
}

/** Begins the conversations anew that last, as people do: otherwise they grow for ever. */
async function beginAnew(gateway: Running): Promise<undefined> {
  const client = backendClient(gateway, ["operator.admin", "operator.read", "operator.write"]);
  await client.connect();
  try {
    const known = (await client.request("sessions.list", { limit: 200 })).sessions.map(({ key }) => key);
    for (const key of LASTING.filter((key) => known.includes(key))) await client.request("sessions.reset", { key });
  } finally {
    await client.close();
  }
  return undefined;
}

async function askInRoom(person: IrcUser, i: number): Promise<undefined> {
  await person.say("#kitchen", `Agent: question ${i}.`);
  await person.sees(new RegExp(`^:agent!.* PRIVMSG #kitchen :.*question ${i}\\.`));
  return undefined;
}

async function backUp(home: Home, i: number): Promise<string | undefined> {
  const dir = join(dirname(home.stateDir), `backup-${i}`);
  const { code, stderr } = await svcCommand(home, ["backup", "create", dir]);
  await rm(dir, { recursive: true, force: true });
  return code === 0 ? undefined : stderr;
}

async function writeConfig(home: Home, config: object): Promise<undefined> {
  const path = join(home.stateDir, "svc.json");
  await writeFile(`${path}.new`, JSON.stringify(config));
  await rename(`${path}.new`, path);
  return undefined;
}

async function asked(gateway: Running, path: string, init: RequestInit): Promise<{ status: number; text: string }> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const answer = await fetch(`${gateway.url}${path}`, { ...init, headers, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, text: await answer.text() };
}

function expected(part: string, { status, text }: { status: number; text: string }): string | undefined {
  return status === 200 && text.includes(part) ? undefined : `${status} ${text}`;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
  });
}
