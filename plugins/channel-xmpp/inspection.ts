import { isIP } from "node:net";
import { AccountRefusedError, type Channel, messageOf } from "svc/sdk";
import { secretValues, type XmppAccount } from "./accounts.ts";
import { messageWithout } from "./keep-linked.ts";
import { logIn, newId } from "./login.ts";
import { Questions } from "./questions.ts";
import { conditionOf } from "./refusals.ts";
import { NS } from "./stream.ts";
import type { XmppTiming } from "./timing.ts";
import { attrOf, childOf, childrenOf, type XmlElement, xml } from "./xml.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

const NS_DISCO = "http://jabber.org/protocol/disco#info";
/** Rooms that an audit looks at. */
const MAX_ROOMS = 20;
/** Time for one answer: a probe and an audit have ten seconds. */
const ANSWER_MS = 5_000;

/** Logs in beside the running account under a resource of its own, is not seen by anybody, and leaves. */
export async function probe(account: XmppAccount, timing: XmppTiming, signal: AbortSignal): Promise<Probe> {
  const started = performance.now();
  const found = await visit(account, timing, signal, async () => undefined);
  const ms = Math.round(performance.now() - started);
  return "error" in found ? { ok: false, ms, error: found.error } : { ok: true, ms, identity: account.jid };
}

/** Says what at the server, or in the config, will make trouble. */
export async function audit(account: XmppAccount, timing: XmppTiming, signal: AbortSignal): Promise<Finding[]> {
  const rooms = account.rooms.slice(0, MAX_ROOMS);
  const encrypted = encryption(account);
  const found = await visit(account, timing, signal, async (ask) => {
    const [server, ...answers] = await Promise.all([account.domain, ...rooms.map(({ jid }) => jid)].map(ask));
    return { server, answers };
  });
  if ("error" in found) return [encrypted, { id: "login", ok: false, message: found.error }];
  const { mechanism, features, value } = found;
  return [
    encrypted,
    { id: "login", ok: true, message: `the server accepts the account (${mechanism})` },
    management(features),
    offline(value.server),
    ...rooms.map(({ jid, password }, i) => roomFinding(jid, password !== undefined, value.answers[i])),
  ];
}

function encryption({ tls, host, domain }: XmppAccount): Finding {
  const name = host ?? domain;
  const isHere = name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
  if (tls) return { id: "tls", ok: true, message: "the link is encrypted" };
  if (isHere) return { id: "tls", ok: true, message: "the link is not encrypted, and stays on this machine" };
  return { id: "tls", ok: false, message: "the link is not encrypted: every message can be read on the way; set tls.enabled" };
}

function management(features: XmlElement): Finding {
  const id = "stream management";
  if (childOf(features, "sm", NS.sm)) return { id, ok: true, message: "the server keeps messages until the account has stored them" };
  return { id, ok: false, message: "the server has no stream management (XEP-0198): messages on the way are lost with a link that breaks" };
}

function offline(answer: XmlElement | undefined): Finding {
  const id = "offline messages";
  if (featuresOf(answer).has("msgoffline")) return { id, ok: true, message: "the server keeps messages while the account is away" };
  return { id, ok: false, message: "the server does not say that it keeps messages while the account is away" };
}

function roomFinding(jid: string, hasPassword: boolean, answer: XmlElement | undefined): Finding {
  const id = `room ${jid}`;
  const { condition, words } = conditionOf(answer && childOf(answer, "error"));
  if (condition === "item-not-found") return { id, ok: true, message: "the room does not exist yet: the account makes it" };
  if (!answer || condition !== "") return { id, ok: false, message: `the room does not say how it is: ${answer ? words : "no answer"}` };
  const features = featuresOf(answer);
  if (features.has("muc_passwordprotected") && !hasPassword)
    return { id, ok: false, message: "the room has a password, and the config has none for it" };
  if (features.has("muc_membersonly"))
    return { id, ok: false, message: "only members can join the room: its owner has to make the account one" };
  if (!features.has("muc_nonanonymous")) {
    return {
      id,
      ok: false,
      message: "the room shows people's addresses to its moderators only: allow-lists know nobody in it unless the account is one",
    };
  }
  return { id, ok: true, message: "the room is open" };
}

function featuresOf(answer: XmlElement | undefined): ReadonlySet<string> {
  const query = answer && childOf(answer, "query", NS_DISCO);
  return new Set(query ? childrenOf(query, "feature").map((feature) => attrOf(feature, "var")) : []);
}

type Ask = (to: string) => Promise<XmlElement | undefined>;
type Visited<T> = { mechanism: string; features: XmlElement; value: T } | { error: string };

/** Logs in, asks, and leaves. Without a presence nothing is delivered to this session. */
async function visit<T>(
  account: XmppAccount,
  timing: XmppTiming,
  signal: AbortSignal,
  look: (ask: Ask) => Promise<T>,
): Promise<Visited<T>> {
  try {
    const { stream, mechanism, features } = await logIn({ account, timing, signal, resource: `svc-probe-${newId()}` });
    const questions = new Questions((stanza) => stream.send(stanza), account.domain, account.jid, ANSWER_MS);
    stream.takeAll((element) => {
      if (element.name === "iq") questions.take(element);
    });
    void stream.wire.ended.then(() => questions.end());
    try {
      const value = await look((to) => questions.ask(to, "get", xml("query", { xmlns: NS_DISCO })));
      return { mechanism, features, value };
    } finally {
      stream.close();
      await stream.wire.ended;
    }
  } catch (error) {
    const reason = messageWithout(messageOf(error), secretValues(account));
    return { error: error instanceof AccountRefusedError ? reason : `no link: ${reason}` };
  }
}
