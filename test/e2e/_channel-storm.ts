import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createTransport } from "nodemailer";
import { startDovecot } from "../servers/dovecot.ts";
import { startExim } from "../servers/exim.ts";
import { connectUser, type IrcUser } from "../servers/irc-user.ts";
import { startMosquitto } from "../servers/mosquitto.ts";
import { connectMqttUser } from "../servers/mqtt-user.ts";
import { startNgircd } from "../servers/ngircd.ts";
import { startProsody } from "../servers/prosody.ts";
import { startTcpRelay, type TcpRelay } from "../servers/tcp-relay.ts";
import { connectXmppUser } from "../servers/xmpp-user.ts";
import { configured, freshHome, token } from "./_cli.ts";
import { commandJson } from "./_command.ts";
import type { Home, Running } from "./_process.ts";

/** Everybody who writes in a storm. */
export const PEOPLE = ["ada", "bob", "cyd", "dan"];

/** Somebody who writes to the agent on a platform, and reads what it answers. */
export interface StormUser {
  name: string;
  /** Resolves when the server has it. */
  say(text: string): Promise<void>;
  /** Answers of the agent, oldest first. */
  heard(): string[];
  /** Lines that the platform said it could not give to anybody. */
  refused(): number;
  close(): Promise<void>;
}

/** A platform as the storm drives it: a real server behind a relay that fails as networks do. A further platform is another one of these. */
export interface StormPlatform {
  id: string;
  /** It keeps what it was given for an account that is away, or gives it again until it is acknowledged. */
  keeps: boolean;
  relay: TcpRelay;
  /** Key of an account that holds its credential, and what it has to be. */
  credential: { path: string; good: string };
  /** Difference of a second account from the first one. */
  second: object;
  /** Content of `channels.<id>`: everybody may write. */
  config(changes?: object): object;
  user(name: string): Promise<StormUser>;
  /** Kills the server, and starts it again on the same port; users have to come back. */
  killServer(): Promise<void>;
  restartServer(): Promise<void>;
  close(): Promise<void>;
}

const everybody = { dmPolicy: "open", allowFrom: ["*"] };

export async function ircStorm(): Promise<StormPlatform> {
  const password = "server-password-1";
  const server = await startNgircd({ password });
  const relay = await startTcpRelay(server.port);
  return {
    id: "irc",
    keeps: false,
    relay,
    credential: { path: "password", good: password },
    second: { nick: "agent2" },
    config: (changes = {}) => ({
      host: "127.0.0.1",
      port: relay.port,
      tls: { enabled: false },
      nick: "agent",
      password,
      burstLines: 100,
      lineIntervalMs: 0,
      ...everybody,
      ...changes,
    }),
    async user(name) {
      const user: IrcUser = await connectUser({ port: server.port, nick: name, password });
      return {
        name,
        say: (text) => user.say("agent", text),
        heard: () => user.lines.flatMap((line) => (/^:agent\S*!\S+ PRIVMSG /.test(line) ? [line.slice(line.indexOf(" :") + 2)] : [])),
        refused: () => user.lines.filter((line) => / 401 \S+ agent /.test(line)).length,
        close: () => user.close(),
      };
    },
    killServer: () => server.kill(),
    restartServer: () => server.restart(),
    async close() {
      await relay.close();
      await server.stop();
    },
  };
}

export async function xmppStorm(): Promise<StormPlatform> {
  const password = "pw-0c6e55d1f2";
  const server = await startProsody();
  await server.register(password, "agent", "agent2", ...PEOPLE);
  const relay = await startTcpRelay(server.port);
  return {
    id: "xmpp",
    keeps: true,
    relay,
    credential: { path: "password", good: password },
    second: { jid: "agent2@localhost" },
    config: (changes = {}) => ({
      jid: "agent@localhost",
      password,
      host: "127.0.0.1",
      port: relay.port,
      tls: { enabled: false },
      ...everybody,
      ...changes,
    }),
    async user(name) {
      const heard: Array<{ id: string; text: string }> = [];
      const user = await connectXmppUser({
        port: server.port,
        name,
        password,
        onStanza(stanza) {
          const text = stanza.getChildText("body");
          if (!stanza.is("message") || text === null || stanza.attrs.from?.split("/")[0] !== "agent@localhost") return;
          const corrected = stanza.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
          const before = heard.findLast(({ id }) => id === corrected);
          if (before) before.text = text;
          else heard.push({ id: stanza.attrs.id ?? "", text });
        },
      });
      return {
        name,
        say: async (text) => void (await user.say("agent@localhost", text)),
        heard: () => heard.map(({ text }) => text),
        refused: () => 0,
        close: () => user.close(),
      };
    },
    killServer: () => server.stop("SIGKILL"),
    restartServer: () => server.restart(),
    async close() {
      await relay.close();
      await server.close();
    },
  };
}

export async function mqttStorm(): Promise<StormPlatform> {
  const password = "pw-5d1f20c6e5";
  const server = await startMosquitto({ users: { agent: password, people: password } });
  const relay = await startTcpRelay(server.port);
  return {
    id: "mqtt",
    keeps: true,
    relay,
    credential: { path: "password", good: password },
    second: { clientId: "agent2", subscriptions: [{ topic: "second/{sender}/in", answerTopic: "second/{sender}/out" }] },
    config: (changes = {}) => ({
      host: "127.0.0.1",
      port: relay.port,
      tls: { enabled: false },
      clientId: "agent",
      username: "agent",
      password,
      subscriptions: [{ topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out" }],
      ...everybody,
      ...changes,
    }),
    async user(name) {
      const topic = `svc/${name}/out`;
      const user = await connectMqttUser({ port: server.port, topics: [topic], username: "people", password });
      return {
        name,
        say: (text) => user.publish(`svc/${name}/in`, text),
        heard: () => user.texts(topic),
        refused: () => 0,
        close: () => user.close(),
      };
    },
    killServer: () => server.kill(),
    restartServer: () => server.restart(),
    async close() {
      await relay.close();
      await server.stop();
    },
  };
}

/** People write by SMTP to an exim, which puts the mails into the mailboxes of a dovecot; the gateway reads there, and answers by the exim. */
export async function mailStorm(): Promise<StormPlatform> {
  const dovecot = await startDovecot();
  const exim = await startExim(dovecot.lmtpPort);
  const relay = await startTcpRelay(dovecot.port);
  const server = { host: "127.0.0.1", security: "none" };
  const mailbox = new Map<string, string>();
  /** Texts of a mailbox; a mail is read once. */
  const textsIn = (address: string) =>
    ["new", "cur"].flatMap((name) => {
      const folder = join(dovecot.maildir(address), name);
      return filesIn(folder).map((file) => {
        const [key = file] = file.split(":");
        const known = mailbox.get(key) ?? readFileSync(join(folder, file), "utf8").replace(/=\r?\n/g, "");
        mailbox.set(key, known);
        return known;
      });
    });
  return {
    id: "mail",
    keeps: true,
    relay,
    credential: { path: "password", good: dovecot.password },
    second: { address: "agent2@example.net" },
    config: (changes = {}) => ({
      address: "agent@example.net",
      password: dovecot.password,
      imap: { ...server, port: relay.port },
      smtp: { ...server, port: exim.port },
      authservId: exim.authservId,
      pollIntervalMs: 2_000,
      ...everybody,
      ...changes,
    }),
    async user(name) {
      const address = `${name}@example.org`;
      const transport = createTransport({ host: "127.0.0.1", port: exim.port, ignoreTLS: true });
      return {
        name,
        say: async (text) => void (await transport.sendMail({ from: address, to: "agent@example.net", subject: "A question", text })),
        heard: () => textsIn(address),
        refused: () => 0,
        close: async () => transport.close(),
      };
    },
    killServer: () => dovecot.kill(),
    restartServer: () => dovecot.restart(),
    async close() {
      await relay.close();
      await exim.stop();
      await dovecot.stop();
    },
  };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Answers each message with the words that stand in it, so that an answer can be told from every other. */
const model = `
import { monitorEventLoopDelay } from "node:perf_hooks";
import { definePlugin, stripFrames, z } from "svc/sdk";
const delay = monitorEventLoopDelay({ resolution: 1 });
export default definePlugin({ id: "echo", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  const params = z.strictObject({ channel: z.string(), people: z.array(z.string()), from: z.number(), count: z.number() });
  ctx.registerRpc({ method: "echo.flood", scope: "write", params, handler: async ({ channel, people, from, count }) => {
    delay.enable();
    const message = { channel, agentId: "main", sessionKey: "agent:main:main", origin: "hook" };
    for (let n = from; n < from + count; ) {
      try {
        await ctx.service("messaging@1").deliver({ ...message, to: people[n % people.length], uid: "flood-" + n, text: "queued-" + n + "-end" });
        n += 1;
      } catch (error) {
        if (error.code !== "deliveries-full") throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    return {};
  } });
  const ms = (ns) => Math.round(ns / 1e5) / 10;
  ctx.registerRpc({ method: "echo.delay", scope: "read", params: z.strictObject({}), handler: () => ({ maxMs: ms(delay.max), p999Ms: ms(delay.percentile(99.9)) }) });
  ctx.registerModelProvider({
    id: "echo", name: "Echo", defaultModel: "echo", models: () => [{ id: "echo", name: "Echo", input: ["text"] }], available: () => ({ ok: true }),
    async *stream({ messages }) {
      const last = messages.findLast(({ role }) => role === "user");
      const text = stripFrames(last.content.map((part) => part.text ?? "").filter((text) => !text.startsWith("System: Now: ")).join(" "));
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield { type: "text", delta: "answer to " + (text.match(/w-[a-z-]+-\\d+-end/g) ?? ["nothing"]).join(" ") };
      yield { type: "finish", reason: "stop" };
    },
  });
} });`;

/** A home whose gateway answers on these channels by that model. @param queue `messages.queue` */
export async function stormHome(channels: object, { queue = { cap: 1_000 } }: { queue?: object } = {}): Promise<Home> {
  const home = await freshHome();
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    session: { dmScope: "per-channel-peer" },
    // Each message is to be seen in an answer: none is joined by time, or summarised because too many wait.
    messages: { inbound: { debounceMs: 0 }, queue },
    plugins: { load: { paths: ["./echo.ts"] } },
    channels,
  });
  await writeFile(join(home.stateDir, "echo.ts"), model);
  return home;
}

/** An account as `svc channels status` shows it. */
export interface AccountRow {
  accountId: string;
  lifecycle: string;
  lastError?: string;
  isHeldElsewhere?: true;
  reconnectAttempts: number;
  lastStartAt?: number;
  queueDepth: number;
}

export async function accountsOf(channel: string, gateway: Running, home: Home): Promise<AccountRow[]> {
  const { value } = await commandJson(home, ["channels", "status"], { SVC_GATEWAY_PORT: String(gateway.port) });
  return (value as { channelAccounts: Record<string, AccountRow[]> }).channelAccounts[channel] ?? [];
}

/** A word that the model repeats. */
export const word = (channel: string, name: string, n: number) => `w-${channel}-${name}-${n}-end`;
/** Number of answers that hold a word. */
export const countOf = (user: StormUser, text: string) => user.heard().filter((line) => line.includes(text)).length;

/** Reads the database of a home whose gateway may be at work. */
export function reading<T>(home: Home, read: (db: Database.Database) => T): T {
  const db = new Database(join(home.stateDir, "state.sqlite"), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Accepted work that has not ended. */
export function openRows(home: Home): unknown[] {
  return reading(home, (db) =>
    db
      .prepare(
        "SELECT uid, lane, state, attempt, lease_boot, not_before, result FROM deliveries WHERE state NOT IN ('done', 'failed', 'expired')",
      )
      .all(),
  );
}
