import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { type Channel, messageOf } from "svc/sdk";
import { type MqttAccount, secretValues } from "./accounts.ts";
import type { MqttLibrary } from "./library.ts";
import { type Link, openLink } from "./link.ts";
import { withoutSecrets } from "./refusals.ts";
import type { MqttTiming } from "./timing.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

interface VisitContext {
  library: MqttLibrary;
  timing: MqttTiming;
  signal: AbortSignal;
}

/** Connects beside the running account under a client id of its own, publishes nothing, and leaves. */
export async function probe(account: MqttAccount, context: VisitContext): Promise<Probe> {
  const started = performance.now();
  const found = await visit(account, context, async () => undefined);
  const ms = Math.round(performance.now() - started);
  if ("error" in found) return { ok: false, ms, error: found.error };
  return { ok: true, ms, identity: `${account.clientId}${account.username === undefined ? "" : ` (${account.username})`}` };
}

/** Says what at the broker, or in the config, will make trouble. */
export async function audit(account: MqttAccount, context: VisitContext): Promise<Finding[]> {
  const findings: Finding[] = [encryption(account)];
  const found = await visit(account, context, async (link) => {
    findings.push({ id: "connection", ok: true, message: "the broker accepts the account" }, ...abilities(account, link));
    for (const { filter, topic } of account.subscriptions) {
      const refusal = await link.subscribe([filter]).then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      const message = refusal === undefined ? "the broker lets the account subscribe" : `the broker refuses the subscription: ${refusal}`;
      findings.push({ id: `topic ${topic}`, ok: refusal === undefined, message });
    }
  });
  if ("error" in found) findings.push({ id: "connection", ok: false, message: found.error });
  return findings;
}

function encryption({ tls, host, password }: MqttAccount): Finding {
  const isHere = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  if (tls) return { id: "tls", ok: true, message: "the link is encrypted" };
  if (isHere) return { id: "tls", ok: true, message: "the link is not encrypted, and stays on this machine" };
  const what = password === undefined ? "every message" : "the password and every message";
  return { id: "tls", ok: false, message: `the link is not encrypted: ${what} can be read on the way; set tls.enabled` };
}

function abilities({ status, sessionExpirySeconds }: MqttAccount, { connack }: Link): Finding[] {
  const { maximumQoS, retainAvailable } = connack.properties ?? {};
  const findings: Finding[] = [];
  if (maximumQoS === 0)
    findings.push({ id: "qos", ok: false, message: "the broker confirms nothing (QoS 0 only): messages can be lost on the way" });
  if (status && retainAvailable === false)
    findings.push({ id: "status", ok: false, message: "the broker keeps no retained messages: leave out status" });
  if (sessionExpirySeconds === 0)
    findings.push({ id: "session", ok: false, message: "sessionExpirySeconds is 0: what is said while the account is away is lost" });
  return findings;
}

async function visit(
  account: MqttAccount,
  { library, timing, signal }: VisitContext,
  look: (link: Link) => Promise<void>,
): Promise<{ link: Link } | { error: string }> {
  try {
    const clientId = `${account.clientId.slice(0, 12)}-${randomBytes(4).toString("hex")}`;
    const link = await openLink({ library, account, clientId, isVisit: true, timing, signal });
    try {
      await look(link);
    } finally {
      link.close();
      await link.ended;
    }
    return { link };
  } catch (error) {
    return { error: withoutSecrets(error instanceof Error ? error : new Error(messageOf(error)), secretValues(account)) };
  }
}
