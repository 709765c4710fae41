import { type CliContext, type CliTarget, isSvcError, type JsonObject, messageOf } from "svc/sdk";
import { type ReloadFigures, reloadFigures } from "./reload-line.ts";

export type Capability = "connect_only" | "pairing_pending" | "read_only" | "write_capable" | "admin_capable" | "unknown";

export interface ProbeResult {
  ok: boolean;
  /** From dialling to `hello-ok`. */
  latencyMs?: number;
  capability: Capability;
  /** `refused`, `timeout`, `not a gateway`, `auth: token_mismatch`, …; null when ok. */
  reason: string | null;
  serverVersion?: string;
  /** State of its config reloads; only for callers who may read. */
  reload?: ReloadFigures;
  /** Parts of it that are not well, and why; only for callers who may read. */
  problems?: Record<string, string>;
  /** Random for each process of a gateway. */
  bootId?: string;
  /** Role and scopes of the connection. */
  auth?: { role: string; scopes: readonly string[] };
  /** Something listens there, whatever it is. */
  portBusy: boolean;
  /** Result of the read-scope RPC, when it was requested. */
  rpc?: { ok: boolean; method: "health"; result: "ok" | "limited" | "failed"; error?: string };
}

/** Connects as a command would and says what that connection could do. */
export async function probe(cli: CliContext, options: { requireRpc: boolean; target?: CliTarget }): Promise<ProbeResult> {
  const started = performance.now();
  try {
    const client = await cli.connect({ newDevice: false, ...(options.target ? { target: options.target } : {}) });
    const latencyMs = Math.round(performance.now() - started);
    try {
      const { auth, server } = client.hello;
      const reload = reloadFigures(client.hello);
      const problems = problemsOf(client.hello);
      const rpc = options.requireRpc ? await readProbe(() => client.request("health", {})) : undefined;
      return {
        ok: true,
        latencyMs,
        capability: capabilityOf(auth.scopes),
        reason: null,
        serverVersion: server.version,
        bootId: server.bootId,
        auth: { role: auth.role, scopes: auth.scopes },
        portBusy: true,
        ...(reload ? { reload } : {}),
        ...(problems ? { problems } : {}),
        ...(rpc ? { rpc } : {}),
      };
    } finally {
      await client.close();
    }
  } catch (error) {
    return failed(error, options.requireRpc);
  }
}

/** `health.problems` of a hello. */
function problemsOf(hello: unknown): Record<string, string> | undefined {
  const { snapshot } = (hello ?? {}) as { snapshot?: { health?: { problems?: Record<string, string> } } };
  return snapshot?.health?.problems;
}

/** Words for the scopes a connection holds. */
export function capabilityOf(scopes: readonly string[]): Capability {
  if (scopes.includes("operator.admin")) return "admin_capable";
  if (scopes.includes("operator.write")) return "write_capable";
  return scopes.includes("operator.read") ? "read_only" : "connect_only";
}

async function readProbe(ask: () => Promise<unknown>): Promise<NonNullable<ProbeResult["rpc"]>> {
  try {
    await ask();
    return { ok: true, method: "health", result: "ok" };
  } catch (error) {
    const limited = (error as { code?: unknown }).code === "FORBIDDEN";
    return { ok: false, method: "health", result: limited ? "limited" : "failed", error: messageOf(error) };
  }
}

function failed(error: unknown, requireRpc: boolean): ProbeResult {
  if (!isSvcError(error)) throw error;
  const fields = error.fields as JsonObject;
  const rpc = requireRpc ? { rpc: { ok: false, method: "health", result: "failed", error: error.message } as const } : {};
  if (error.code === "client-unauthorized") {
    const pending = fields.authReason === "PAIRING_REQUIRED" || fields.authReason === "DEVICE_IDENTITY_REQUIRED";
    const capability = pending ? "pairing_pending" : "unknown";
    return { ok: false, capability, reason: `auth: ${String(fields.authReason)}`, portBusy: true, ...rpc };
  }
  if (error.code !== "gateway-unreachable") throw error;
  const reason = String(fields.cause ?? "network").replaceAll("-", " ");
  return { ok: false, capability: "unknown", reason, portBusy: reason !== "refused", ...rpc };
}
