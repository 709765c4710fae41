import type { Health } from "../sdk/gateway/health.ts";
import type { Presence } from "../sdk/gateway/presence.ts";
import { soundFindings } from "../sdk/gateway/sound-findings.ts";
import { protocolMethod } from "../sdk/protocol/methods.ts";
import { hasScope } from "../sdk/scopes.ts";
import type { RpcMethod } from "../sdk/types/rpc.ts";
import type { HookBus } from "./hooks/bus.ts";
import { type MethodRegistry, RawJson } from "./port/methods.ts";

export interface KernelMethodDeps {
  health: Health;
  presence: Presence;
  hooks: HookBus;
  version: string;
  requestRestart(reason: string): void;
  /** Rejects with what the next start would be refused for. */
  checkRestart(): Promise<void>;
}

/** Methods the kernel answers itself, also with zero plugins. */
export function registerKernelMethods(methods: MethodRegistry, deps: KernelMethodDeps): void {
  const add = <P>(method: Omit<RpcMethod<P>, "handler">, handler: RpcMethod<P>["handler"]) =>
    methods.add({ ...method, handler } as RpcMethod, "kernel");

  add(
    protocolMethod("health"),
    async (params: { probe?: boolean | undefined }) => new RawJson(await deps.health.text({ probe: params.probe === true })),
  );
  add(protocolMethod("status"), async (_params, call) => {
    const value = await deps.health.value();
    return {
      runtimeVersion: deps.version,
      ok: value.ok,
      uptimeMs: value.uptimeMs,
      phase: value.phase,
      agents: value.agents ?? [],
      channelSummary: [],
      queuedSystemEvents: [],
      sessions: value.sessions ?? { count: 0, recent: [] },
      plugins: value.plugins,
      ...(value.memorySearch ? { memorySearch: value.memorySearch } : {}),
      ...(value.problems ? { problems: value.problems } : {}),
      ...(hasScope(call.client.scopes, "operator.admin") ? { pid: process.pid, processMemory: value.memory } : {}),
    };
  });
  add(protocolMethod("system-presence"), () => deps.presence.list());
  add(protocolMethod("gateway.doctor"), async ({ deep = false }: { deep?: boolean }) => ({
    findings: soundFindings(await deps.hooks.run("doctor.collect", { deep })),
  }));
  add(protocolMethod("gateway.restart.request"), async ({ reason = "requested", delayMs = 0 }: { reason?: string; delayMs?: number }) => {
    await deps.checkRestart();
    setTimeout(() => deps.requestRestart(reason), delayMs).unref();
    return { ok: true, status: "scheduled" };
  });
}
