import { type Channel, isRecord, messageOf } from "svc/sdk";
import type { SignalAccount } from "./accounts.ts";
import { openDaemon } from "./daemon.ts";
import type { SignalTiming } from "./timing.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

/** Asks the daemon whether it serves the account. Sends no message, and does not subscribe: the running account keeps its messages. */
export async function probe(account: SignalAccount, timing: SignalTiming, signal: AbortSignal): Promise<Probe> {
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  try {
    const daemon = await openDaemon({ account, timing, signal, onNotification: () => undefined });
    daemon.link.close();
    return { ok: true, ms: ms(), identity: `${account.account} by signal-cli ${daemon.version}` };
  } catch (error) {
    return { ok: false, ms: ms(), error: messageOf(error) };
  }
}

/** Checks what the account can be reached by, and the daemon's rights in its groups. */
export async function audit(account: SignalAccount, timing: SignalTiming, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { endpoint } = account;
  const isLocal = "path" in endpoint || ["127.0.0.1", "::1", "localhost"].includes(endpoint.host);
  findings.push({
    id: "address",
    ok: isLocal,
    message: isLocal
      ? "the daemon is on this machine"
      : "the daemon asks nobody for a password and the link is not encrypted: reach it over a socket or a tunnel",
  });
  const daemon = await openDaemon({ account, timing, signal, onNotification: () => undefined }).catch((error: unknown) => messageOf(error));
  if (typeof daemon === "string") return [...findings, { id: "daemon", ok: false, message: daemon }];
  try {
    const groups = await daemon.call("listGroups");
    for (const group of Array.isArray(groups) ? groups.filter(isRecord).slice(0, 100) : []) {
      const name = typeof group.name === "string" && group.name !== "" ? group.name : String(group.id);
      if (group.isMember !== true)
        findings.push({ id: `group ${name}`, ok: false, message: "the account is no member of the group any more" });
      else if (group.isBlocked === true) findings.push({ id: `group ${name}`, ok: false, message: "the account has blocked the group" });
      else if (group.permissionSendMessage === "ONLY_ADMINS" && !isAdmin(group.admins, daemon.ownIds))
        findings.push({ id: `group ${name}`, ok: false, message: "only admins may write in the group" });
    }
  } catch (error) {
    findings.push({ id: "groups", ok: false, message: messageOf(error) });
  } finally {
    daemon.link.close();
  }
  return findings;
}

function isAdmin(admins: unknown, ownIds: ReadonlySet<string>): boolean {
  if (!Array.isArray(admins)) return false;
  return admins.some((one: unknown) =>
    (isRecord(one) ? [one.number, one.uuid] : [one]).some((id) => typeof id === "string" && ownIds.has(id)),
  );
}
