import type { DoctorFinding } from "../../../sdk/hooks.ts";
import { RawJson } from "../../../sdk/internal/raw-json.ts";
import { hasScope } from "../../../sdk/internal/scopes.ts";
import { methodOf } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { RpcCall, RpcMethod } from "../../../sdk/types/rpc.ts";
import type { GatewayIdentity } from "../../auth/gateway-identity.ts";
import type { HookBus } from "../../hooks/bus.ts";
import type { Health } from "../../operations/health.ts";
import type { Presence } from "../../operations/presence.ts";
import type { RestartTimes } from "../../operations/restart-deferral.ts";
import type { SafeMode } from "../../operations/safe-mode.ts";
import { toStatus } from "../../operations/status.ts";
import { namedProxies, type ProxyEnv } from "../../process/http/proxy.ts";
import type { MethodRegistry } from "./registry.ts";

export interface KernelMethodDeps {
  health: Health;
  presence: Presence;
  hooks: HookBus;
  version: string;
  requestRestart(reason: string, when: RestartTimes): void;
  /** Rejects with what the next start would be refused for. */
  checkRestart(): Promise<void>;
  safeMode: Pick<SafeMode, "leave">;
  /** Rejects while there is no store. */
  identity(): Promise<GatewayIdentity>;
  /** Variables of the gateway. */
  env(): ProxyEnv;
}

/** Methods the kernel answers itself, also with zero plugins. */
export function registerKernelMethods(methods: MethodRegistry, deps: KernelMethodDeps): void {
  const add = <P>(method: Omit<RpcMethod<P>, "handler">, handler: RpcMethod<P>["handler"]) =>
    methods.add({ ...method, handler } as RpcMethod, "kernel");

  const isAdmin = (call: RpcCall) => hasScope(call.client.scopes, "operator.admin");
  add(
    methodOf(protocolMethods, "health"),
    async ({ probe = false }: { probe?: boolean }, call) => new RawJson(await deps.health.text({ probe, paths: isAdmin(call) })),
  );
  add(methodOf(protocolMethods, "status"), async (_params, call) =>
    toStatus({ version: deps.version, snapshot: await deps.health.value(), isAdmin: isAdmin(call), pid: process.pid }),
  );
  add(methodOf(protocolMethods, "system-presence"), () => deps.presence.list());
  add(methodOf(protocolMethods, "gateway.doctor"), async ({ deep = false }: { deep?: boolean }) => ({
    findings: soundFindings([...(await deps.hooks.run("doctor.collect", { deep })), ...proxyFindings(deps.env())]),
  }));
  add(methodOf(protocolMethods, "gateway.identity.get"), () => deps.identity());
  const restart = async ({ reason = "requested", delayMs = 0, waitMs }: { reason?: string; delayMs?: number; waitMs?: number }) => {
    await deps.checkRestart();
    deps.requestRestart(reason, { delayMs, waitMs });
    return { ok: true, status: "scheduled" };
  };
  add(methodOf(protocolMethods, "gateway.restart.request"), restart);
  add(methodOf(protocolMethods, "gateway.restart"), restart);
  add(methodOf(protocolMethods, "gateway.exitSafeMode"), async () => ({
    ok: true,
    left: await deps.safeMode.leave("an operator asked for it"),
  }));
}

function proxyFindings(env: ProxyEnv): DoctorFinding[] {
  return namedProxies(env).map(({ scheme, variable, proxy }) =>
    proxy === undefined
      ? {
          id: `proxy/${scheme}`,
          severity: "error",
          message: `${variable}: its value is no address of an http or https proxy; requests of plugins to ${scheme} servers fail`,
          fix: `set ${variable} to an address such as http://host:3128, or unset it`,
        }
      : {
          id: `proxy/${scheme}`,
          severity: "info",
          message: `${variable}: requests of plugins to ${scheme} servers that NO_PROXY does not list go through the proxy ${proxy}`,
        },
  );
}

const order = { error: 0, warning: 1, info: 2 } as const;

/** Sorts out the findings that plugins reported to the doctor: anything else is dropped; the worst come first, then by id. Never throws. */
function soundFindings(reported: readonly unknown[]): DoctorFinding[] {
  const sound = reported.flatMap((item) => copyFinding(item) ?? []);
  return sound.sort((a, b) => order[a.severity] - order[b.severity] || (a.id < b.id ? -1 : 1));
}

/** A copy of its JSON form: what a plugin keeps in its hands may throw when it is sent. Undefined for what is no finding. */
function copyFinding(item: unknown): DoctorFinding | undefined {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(item));
    return isFinding(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}

function isFinding(item: unknown): item is DoctorFinding {
  if (typeof item !== "object" || item === null) return false;
  const { id, severity, message } = item as Partial<DoctorFinding>;
  return typeof id === "string" && typeof message === "string" && severity !== undefined && Object.hasOwn(order, severity);
}
