import type { DeliveryCounts, HealthPart } from "svc/sdk";
import type { HooksConfig } from "./action.ts";
import type { TickFacts } from "./deliveries/runner.ts";
import type { EndpointState } from "./endpoint/endpoint.ts";

/** Facts about the running plugin. */
export interface HookFacts {
  /** Undefined while webhooks are not served. */
  state: EndpointState | undefined;
  counts: DeliveryCounts;
  /** Undefined while no action is processed. */
  tick?: TickFacts | undefined;
}

/** Hook actions by state; only what an operator acts upon. */
export interface HookFigures {
  accepted: number;
  running: number;
  failed: number;
  expired: number;
}

export function figuresOf({ byDir }: DeliveryCounts): HookFigures {
  const of = (state: keyof HookFigures) => (byDir["hook-agent"]?.[state] ?? 0) + (byDir["hook-wake"]?.[state] ?? 0);
  return { accepted: of("accepted"), running: of("running"), failed: of("failed"), expired: of("expired") };
}

/** Part `hooks` of the health snapshot. Failed actions are counted and do not make it unhealthy. */
export function healthPart(hooks: HooksConfig, { state, counts, tick }: HookFacts): HealthPart {
  const silent = tick?.wasDead ? [`waiting actions were not checked for ${Math.round(tick.age / 1_000)} s; the timer was restarted`] : [];
  const problems = [...(state?.problems ?? []), ...silent];
  const value = {
    enabled: hooks.enabled,
    ...(state ? { path: state.path, mappings: state.mappings.length } : {}),
    ...figuresOf(counts),
    ...(tick ? { tick: { intervalMs: tick.intervalMs, age: tick.age } } : {}),
  };
  const isWell = problems.length === 0 && hooks.enabled === (state !== undefined);
  const message = problems.length > 0 ? problems.join("; ") : "hooks are enabled, but they are not being served";
  return { part: "hooks", ok: isWell, critical: false, value, ...(isWell ? {} : { message }) };
}
