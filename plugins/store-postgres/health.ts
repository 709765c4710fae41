import type { DoctorFinding, HealthPart, PluginContext } from "svc/sdk";
import { faultText } from "./faults.ts";
import type { OpenStore } from "./open-store.ts";
import { Refusal } from "./refusal.ts";
import { clockWarning, type ServerFacts, unsuitability } from "./server-checks.ts";

/** Connections of one gateway, with some room for operators and backups. */
const connectionsEach = 10;

/** Reports the state of the store in health and to `svc doctor`. */
export function registerReports(ctx: PluginContext, { store, schema }: { store: OpenStore; schema: string }): void {
  ctx.on("health.collect", async (_, { report }) => {
    const roundTripMs = await store.roundTripMs().catch(() => undefined);
    report(toHealthPart(store, roundTripMs));
  });
  ctx.on("doctor.collect", async (_, { report }) => {
    try {
      for (const finding of findings(await store.facts(), { isListening: store.isListening(), schema })) report(finding);
    } catch (error) {
      const message = error instanceof Refusal ? String(error.fields.advice) : `the database cannot be asked (${faultText(error)})`;
      report({ id: "store/unreachable", severity: "error", message, fix: "check the server, the network and store.postgres.url" });
    }
  });
}

/** The part `store` of the health snapshot. */
export function toHealthPart({ service, leaseAgeMs, isListening }: OpenStore, roundTripMs: number | undefined): HealthPart {
  const { ok, reason, notReady, queued, backend, endpoint, unreadableRows } = service.status();
  return {
    part: "store",
    ok: ok && notReady === undefined,
    critical: true,
    value: {
      ok,
      ...(reason ? { reason } : {}),
      queued,
      backend,
      endpoint,
      ...(roundTripMs === undefined ? {} : { roundTripMs: Math.round(roundTripMs * 10) / 10 }),
      leaseAgeMs: Math.round(leaseAgeMs()),
      listening: isListening(),
      ...(unreadableRows ? { unreadableRows } : {}),
    },
    ...(notReady ? { message: notReady } : {}),
  };
}

/** Findings about the server. */
export function findings(facts: ServerFacts, { isListening, schema }: { isListening: boolean; schema: string }): DoctorFinding[] {
  const found: DoctorFinding[] = [];
  const add = (id: string, severity: "error" | "warning", message: string | undefined, fix: string) => {
    if (message !== undefined) found.push({ id, severity, message, fix });
  };
  const reason = unsuitability(facts);
  add("store/unsuitable", "error", reason && `the database: ${reason}`, "change the setting of the server and restart the gateway");
  add("store/clock", "warning", clockWarning(facts), "set both clocks by NTP");
  add(
    "store/listen",
    "warning",
    isListening ? undefined : `notices of other gateways do not arrive on the channel svc_${schema}`,
    "store.postgres.url must lead to the server itself, not through a pooler that shares sessions between transactions",
  );
  add(
    "store/connections",
    "warning",
    facts.maxConnections >= connectionsEach
      ? undefined
      : `the database takes ${facts.maxConnections} connections; ${connectionsEach} are needed for each gateway`,
    "raise max_connections",
  );
  return found;
}
