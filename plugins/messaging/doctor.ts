import { type DoctorFinding, type HookMeta, messageOf, type PluginContext, type Store, type SvcConfig } from "svc/sdk";
import type { Accounts, ListedAccount } from "./accounts/accounts.ts";
import { policyOf } from "./accounts/policy.ts";
import { channelsStatus } from "./accounts/status.ts";
import { linkedName } from "./inbound/session-key.ts";
import type { Pairings } from "./pairing/pairings.ts";

/** Time for all platforms to say what is wrong with their accounts; a command waits ten seconds. */
const AUDIT_MS = 5_000;

interface DoctorDeps {
  ctx: Pick<PluginContext, "snapshot" | "service" | "clock" | "signal">;
  store(): Store;
  accounts: Accounts;
  pairings: Pick<Pairings, "list">;
}

/** Findings of `svc doctor` about channels. */
export async function reportDoctor({ ctx, store, accounts, pairings }: DoctorDeps, meta: Pick<HookMeta, "report">): Promise<void> {
  const audited = auditFindings({ ctx, store, accounts });
  const config = ctx.snapshot();
  const known = new Set(
    ctx
      .service("agents@1")
      .list()
      .map(({ id }) => id),
  );
  for (const finding of bindingFindings(config, known)) meta.report(finding);
  const talking: ListedAccount[] = [];
  for (const channel of accounts.channels()) {
    try {
      const listed = accounts.list(channel);
      for (const one of listed) for (const finding of accountFindings(one, config)) meta.report(finding);
      talking.push(...listed.filter(({ enabled }) => enabled));
    } catch (error) {
      meta.report({ id: "channels/config", severity: "error", path: `channels.${channel.id}`, message: messageOf(error) });
    }
  }
  // While the storage is away nobody counts as paired; doctor names that elsewhere.
  const paired = await pairings.list().catch(() => []);
  if (config.session.dmScope === "main" && isShared(talking, paired, config)) meta.report(sharedSession);
  for (const finding of await audited) meta.report(finding);
}

/** Rights and settings that the accounts lack on their platforms; of an account that is off nobody asks. */
async function auditFindings({ ctx, store, accounts }: Omit<DoctorDeps, "pairings">): Promise<DoctorFinding[]> {
  // While the storage is away no queue can be counted; doctor names that elsewhere.
  const status = await channelsStatus({ probe: true, timeoutMs: AUDIT_MS }, { ctx, accounts, store }).catch(() => undefined);
  return Object.entries(status?.channelAccounts ?? {}).flatMap(([channel, listed]) =>
    listed
      .filter(({ enabled, configured }) => enabled && configured)
      .flatMap(({ accountId, audit = [] }) =>
        audit
          .filter(({ ok }) => !ok)
          .map(({ message }) => ({
            id: "channels/rights",
            severity: "warning" as const,
            path: `channels.${channel}`,
            message: `${channel}, account ${accountId}: ${message}`,
            fix: "correct it on the platform or in the config, then: svc channels status --probe",
          })),
      ),
  );
}

const sharedSession: DoctorFinding = {
  id: "channels/shared-session",
  severity: "info",
  path: "session.dmScope",
  message: "direct messages of several people share one session, so each may learn what the others wrote",
  fix: 'set session.dmScope to "per-channel-peer"',
};

/** True when more than one person may write directly, over all channels and accounts; `session.identityLinks` says who is one person. */
function isShared(talking: readonly ListedAccount[], paired: Awaited<ReturnType<Pairings["list"]>>, config: SvcConfig): boolean {
  const people = new Set<string>();
  for (const { channel, accountId } of talking) {
    const { dmPolicy, allowFrom } = policyOf(config, channel.id, accountId);
    if (dmPolicy === "disabled") continue;
    if (allowFrom.includes("*")) return true;
    const isCaseSensitive = channel.capabilities.caseSensitiveIds === true;
    const own = paired.filter((one) => dmPolicy === "pairing" && one.channel === channel.id && one.accountId === accountId);
    for (const id of [...allowFrom, ...own.flatMap(({ approved }) => approved.map((one) => one.id))]) {
      const name = linkedName(channel.id, id.trim(), { links: config.session.identityLinks, isCaseSensitive });
      people.add(name ?? JSON.stringify([channel.id, isCaseSensitive ? id.trim() : id.trim().toLowerCase()]));
    }
  }
  return people.size > 1;
}

function bindingFindings({ bindings }: SvcConfig, known: ReadonlySet<string>): DoctorFinding[] {
  return bindings.flatMap(({ agentId }, i) =>
    known.has(agentId)
      ? []
      : [
          {
            id: "channels/binding-agent",
            severity: "warning" as const,
            path: `bindings.${i}.agentId`,
            message: `there is no agent "${agentId}", so this binding binds nothing`,
          },
        ],
  );
}

function accountFindings({ channel, accountId, enabled, configured, missing, account }: ListedAccount, config: SvcConfig): DoctorFinding[] {
  if (!enabled) return [];
  const path = `channels.${channel.id}`;
  const name = `${channel.id}, account ${accountId}`;
  const policy = policyOf(config, channel.id, accountId);
  const findings: DoctorFinding[] = [];
  if (!configured)
    findings.push({ id: "channels/config", severity: "error", path, message: `${name}: not complete; missing ${missing.join(", ")}` });
  if (account?.state.lifecycle === "blocked") {
    findings.push({
      id: "channels/blocked",
      severity: "error",
      path,
      message: `${name} is blocked: ${account.state.lastError ?? "it gave no reason"}`,
      fix: `correct it, then: svc channels start ${channel.id} --account ${accountId}`,
    });
  }
  if (account?.state.isHeldElsewhere) {
    findings.push({
      id: "channels/held",
      severity: "error",
      path,
      message: `${name}: ${account.state.lastError ?? "another gateway on this machine runs it"}`,
    });
  }
  if (policy.dmPolicy === "open" || (policy.dmPolicy !== "disabled" && policy.allowFrom.includes("*"))) {
    findings.push({
      id: "channels/open",
      severity: "warning",
      path: policy.dmPolicy === "open" ? `${path}.dmPolicy` : `${path}.allowFrom`,
      message: `${name}: everybody who finds the account may talk to the agent`,
    });
  }
  if (policy.groupPolicy === "open" && (policy.groupAllowFrom ?? ["*"]).includes("*")) {
    findings.push({
      id: "channels/open",
      severity: "warning",
      path: `${path}.groupPolicy`,
      message: `${name}: everybody in any group that the account is in may talk to the agent`,
    });
  }
  if (policy.matchesNames) {
    findings.push({
      id: "channels/names",
      severity: "warning",
      path: `${path}.dangerouslyAllowNameMatching`,
      message: `${name}: senders are matched by names, which can change hands`,
    });
  }
  return findings;
}
