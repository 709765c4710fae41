import { isIP } from "node:net";
import { AccountRefusedError, type Channel, messageOf, withLimit } from "svc/sdk";
import { type IrcAccount, secretValues } from "./accounts.ts";
import { messageWithout, type Welcome } from "./handshake.ts";
import { formatLine, type Line } from "./line.ts";
import { link } from "./link.ts";
import { wordsOf } from "./refusals.ts";
import type { IrcTiming } from "./timing.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

/** Rooms that an audit looks at: each is a line in the server's flood limit. */
const MAX_ROOMS = 10;
const LAST = "svc-audit";

/** Registers beside the running account under a nick of its own, says nothing, and leaves. */
export async function probe(account: IrcAccount, timing: IrcTiming, signal: AbortSignal): Promise<Probe> {
  const started = performance.now();
  const found = await visit(account, { timing, signal, questions: [] });
  const ms = Math.round(performance.now() - started);
  if ("error" in found) return { ok: false, ms, error: found.error };
  const network = found.features.get("NETWORK") ?? account.host;
  return { ok: true, ms, identity: `${account.sasl ? (found.welcome.account ?? account.nick) : account.nick} on ${wordsOf(network)}` };
}

/** Says what on the network, or in the config, will make trouble. */
export async function audit(account: IrcAccount, timing: IrcTiming, signal: AbortSignal): Promise<Finding[]> {
  const rooms = account.rooms.slice(0, MAX_ROOMS);
  const found = await visit(account, { timing, signal, questions: rooms.map(({ name }) => formatLine("MODE", name)) });
  const findings: Finding[] = [encryption(account)];
  if ("error" in found) return [...findings, { id: "registration", ok: false, message: found.error }];
  findings.push({ id: "registration", ok: true, message: "the server accepts the account" });
  findings.push(identities(found.welcome));
  for (const room of rooms) findings.push(roomFinding(room, found.answers));
  return findings;
}

function encryption({ tls, host, password, sasl }: IrcAccount): Finding {
  const isHere = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  if (tls) return { id: "tls", ok: true, message: "the link is encrypted" };
  if (isHere) return { id: "tls", ok: true, message: "the link is not encrypted, and stays on this machine" };
  const what = password !== undefined || sasl ? "the password and every message" : "every message";
  return { id: "tls", ok: false, message: `the link is not encrypted: ${what} can be read on the way; set tls.enabled` };
}

function identities({ caps }: Welcome): Finding {
  const id = "identities";
  if (caps.has("account-tag")) return { id, ok: true, message: "messages name the services account of their sender" };
  const message = "the server does not name services accounts: senders are known by nick!user@host, which changes with their address";
  return { id, ok: false, message };
}

function roomFinding({ name, key }: { name: string; key?: string }, answers: readonly Line[]): Finding {
  const id = `room ${name}`;
  const about = answers.find(({ params }) => params[1]?.toLowerCase() === name.toLowerCase());
  const modes = about?.command === "324" ? (params2(about) ?? "") : "";
  if (modes.includes("k") && key === undefined) return { id, ok: false, message: "the room has a key, and the config has none for it" };
  if (modes.includes("i")) return { id, ok: false, message: "only invited people can join the room" };
  if (about?.command === "403") return { id, ok: true, message: "the room does not exist yet: the account makes it" };
  return { id, ok: true, message: modes.includes("m") ? "only people with voice can write in the room" : "the room is open" };
}

const params2 = ({ params }: Line) => params[2];

interface Visit {
  timing: IrcTiming;
  signal: AbortSignal;
  questions: readonly string[];
}

interface Visited {
  welcome: Welcome;
  features: ReadonlyMap<string, string>;
  answers: readonly Line[];
}

/** Registers, asks, and leaves. The nick is one that nobody has, so the running account keeps its own. */
async function visit(account: IrcAccount, { timing, signal, questions }: Visit): Promise<Visited | { error: string }> {
  const answers: Line[] = [];
  const features = new Map<string, string>();
  let visited: Visited | undefined;
  const end = await withLimit(
    link({
      account,
      nicks: [passingNick(), passingNick()],
      timing,
      signal,
      onWelcome(wire, welcome) {
        for (const line of [...questions, formatLine("PING", LAST)]) wire.send(line);
        return (line) => {
          if (line.command === "PING") wire.send(formatLine("PONG", line.params.at(-1) ?? ""));
          else if (line.command === "PONG") {
            visited = { welcome, features, answers };
            wire.quit();
          } else if (line.command === "005") for (const token of line.params) features.set(...pairOf(token));
          else if (/^[3-5]\d\d$/.test(line.command)) answers.push(line);
        };
      },
    }),
    timing.connectMs + timing.registerMs,
    () => new Error("the server did not answer in time"),
    signal,
  ).catch((error: unknown) => new Error(messageOf(error)));
  if (visited) return visited;
  const reason = messageWithout(end ?? new Error("the link was closed"), secretValues(account));
  return { error: end instanceof AccountRefusedError ? reason : `no link: ${reason}` };
}

function pairOf(token: string): [string, string] {
  const at = token.indexOf("=");
  return at < 0 ? [token, ""] : [token.slice(0, at), token.slice(at + 1)];
}

function passingNick(): string {
  return `svc${Math.random().toString(36).slice(2, 8)}`;
}
