import type { ProbeResult } from "../cli/probe.ts";
import type { ProbeTarget } from "./targets.ts";

/** A target with its answer. */
export interface ProbedTarget {
  target: ProbeTarget;
  result: ProbeResult;
}

/** Judgement over all targets. */
export interface ProbeVerdict {
  /** Some gateway answered. */
  ok: boolean;
  /** One answered, and not to everything it was asked. */
  degraded: boolean;
  /** Id of the first that let us in, else of the first that answered. */
  primary: string | null;
  warnings: Array<{ code: "multiple_gateways"; message: string; targets: string[] }>;
}

/**
 * Judges the answers. A gateway that refuses the secret has answered. The same `bootId` over two addresses is one gateway; one that
 * does not tell its `bootId` counts as another only by the process of its lock. Pure.
 */
export function judge(probed: readonly ProbedTarget[]): ProbeVerdict {
  const answered = probed.filter(({ result }) => result.ok || (result.reason ?? "").startsWith("auth: "));
  const primary = answered.find(({ result }) => result.ok) ?? answered[0];
  const gateways = new Map<string, string[]>();
  for (const { target, result } of answered) {
    const key = result.bootId ?? (target.pid === undefined ? undefined : `pid ${target.pid}`);
    if (key !== undefined) gateways.set(key, [...(gateways.get(key) ?? []), target.id]);
  }
  const targets = [...gateways.values()].flatMap((ids) => ids.slice(0, 1));
  const message = `${targets.length} gateways answer (${targets.join(", ")}); one per host is normal, unless they are isolated on purpose by port, config and state`;
  return {
    ok: answered.length > 0,
    degraded: answered.some(({ result }) => result.rpc?.ok !== true),
    primary: primary?.target.id ?? null,
    warnings: targets.length > 1 ? [{ code: "multiple_gateways", message, targets }] : [],
  };
}
