import { randomBytes } from "node:crypto";
import { AccountRefusedError, messageOf, withLimit } from "svc/sdk";
import type { XmppAccount } from "./accounts.ts";
import { conditionOf, wordsOf } from "./refusals.ts";
import { authenticate, chooseMechanism } from "./sasl.ts";
import { type Server, serversOf } from "./servers.ts";
import { NS, XmppStream } from "./stream.ts";
import type { XmppTiming } from "./timing.ts";
import { attrOf, childOf, childrenOf, textOf, type XmlElement, xml } from "./xml.ts";

/** Time to find out where the server is. */
const FIND_MS = 10_000;

/** A session of an earlier link, to go on with (XEP-0198). */
export interface Earlier {
  id: string;
  /** Stanzas of the server that were handled. */
  handled: number;
}

/** Outcome of a login. `acked` counts the stanzas of an earlier session that the server has handled; undefined where it does not say. */
export type Login = { stream: XmppStream; mechanism: string; features: XmlElement } & (
  | { kind: "resumed"; acked: number }
  | { kind: "bound"; jid: string; acked: number | undefined }
);

interface LoginOptions {
  account: XmppAccount;
  timing: XmppTiming;
  signal: AbortSignal;
  /** Name of this client beside others of the account. */
  resource: string;
  earlier?: Earlier | undefined;
}

/**
 * Connects, encrypts, identifies, and resumes the earlier session or binds a new one. The stream hands nothing over yet.
 * @throws {AccountRefusedError} when another try would end in the same way, {Error} for what may pass; no link is left then
 */
export async function logIn(options: LoginOptions, find: (account: XmppAccount) => Promise<Server[]> = serversOf): Promise<Login> {
  const { account, timing, signal } = options;
  let last: unknown;
  const tooLate = () => {
    throw new Error(`the DNS did not say within ${FIND_MS / 1_000} s where the server of ${account.domain} is`);
  };
  for (const server of await withLimit(find(account), FIND_MS, tooLate, signal)) {
    signal.throwIfAborted();
    let stream: XmppStream | undefined;
    try {
      stream = await XmppStream.open(server, account, timing, signal);
    } catch (error) {
      last = new Error(`${server.host}:${server.port}: ${messageOf(error)}`);
      continue;
    }
    return negotiateInTime(stream, options);
  }
  throw last ?? new Error("there is no server");
}

async function negotiateInTime(stream: XmppStream, options: LoginOptions): Promise<Login> {
  const limitMs = options.timing.loginMs;
  const tooLate = () => {
    throw new Error(`the server did not accept the account within ${limitMs / 1_000} s`);
  };
  try {
    return await withLimit(negotiate(stream, options), limitMs, tooLate, options.signal);
  } catch (error) {
    if (options.signal.aborted || error instanceof AccountRefusedError) stream.close();
    else stream.wire.destroy(error instanceof Error ? error : new Error(messageOf(error)));
    throw error;
  }
}

async function negotiate(stream: XmppStream, { account, resource, earlier }: LoginOptions): Promise<Login> {
  let features = await stream.begin();
  if (account.tls && !stream.wire.isEncrypted) {
    if (!childOf(features, "starttls", NS.tls)) throw new Error("the server offers no STARTTLS, and the account has to be encrypted");
    stream.send(xml("starttls", { xmlns: NS.tls }));
    const answer = await stream.next();
    if (answer.name !== "proceed" || answer.ns !== NS.tls) throw new Error("the server did not go on with STARTTLS");
    await stream.wire.encrypt();
    features = await stream.begin();
  }
  const offered = childrenOf(childOf(features, "mechanisms", NS.sasl) ?? features, "mechanism").map(textOf);
  if (offered.length === 0) throw new Error("the server offers no login; it may want an encrypted link");
  const mechanism = chooseMechanism(offered, stream.wire.isEncrypted);
  await authenticate(stream, mechanism, { username: account.local, password: account.password });
  features = await stream.begin();
  const done = { stream, mechanism, features };
  let acked: number | undefined;
  if (earlier && childOf(features, "sm", NS.sm)) {
    stream.send(xml("resume", { xmlns: NS.sm, previd: earlier.id, h: String(earlier.handled) }));
    const answer = await stream.next();
    if (answer.ns !== NS.sm) throw new Error("the server does not answer whether it goes on with the session");
    acked = countOf(attrOf(answer, "h"));
    if (answer.name === "resumed") return { ...done, kind: "resumed", acked: acked ?? 0 };
  }
  return { ...done, kind: "bound", jid: await bind(stream, resource), acked };
}

async function bind(stream: XmppStream, resource: string): Promise<string> {
  const id = newId();
  stream.send(xml("iq", { type: "set", id }, xml("bind", { xmlns: NS.bind }, xml("resource", {}, resource))));
  const answer = await stream.next();
  if (attrOf(answer, "type") === "result" && attrOf(answer, "id") === id) {
    const bound = childOf(answer, "bind", NS.bind);
    return textOf(bound && childOf(bound, "jid"));
  }
  const { condition, words } = conditionOf(childOf(answer, "error"));
  if (condition === "conflict") throw new Error(`another client of this account is there as "${wordsOf(resource)}": ${words}`);
  throw new Error(`the server does not let the account in: ${words}`);
}

/** Count of stanzas (XEP-0198, modulo 2^32). */
export function countOf(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) % 2 ** 32 : undefined;
}

/** Id that nobody guesses. */
export function newId(): string {
  return randomBytes(9).toString("base64url");
}
