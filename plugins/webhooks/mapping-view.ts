import { shownName } from "svc/sdk/internal";
import type { ReadyMapping } from "./mappings/mapping.ts";
import type { TransformProblem } from "./transforms/transforms.ts";

/** Public form of a mapping for operators; no templates and no secrets. */
export interface MappingView {
  id: string;
  preset?: string;
  path?: string;
  source?: string;
  action: "wake" | "agent";
  agentId?: string;
  forEach?: string;
  /** Module of the transform. */
  transform?: string;
  verify?: { provider: string; mode: "with-token" | "instead" };
  /** Payloads reach the agent unframed. */
  isUnsafe: boolean;
  /** Reason why it cannot serve. */
  broken?: string;
}

export function viewOf({ id, preset, mapping, broken }: ReadyMapping, problems: readonly TransformProblem[]): MappingView {
  const { match, agentId, forEach, transform, verify } = mapping;
  const lost =
    broken ??
    (transform && problems.find((one) => one.severity === "error" && [transform.module, undefined].includes(one.module))?.message);
  return {
    id: shownName(id),
    ...(preset === undefined ? {} : { preset }),
    ...(match?.path === undefined ? {} : { path: match.path }),
    ...(match?.source === undefined ? {} : { source: match.source }),
    action: mapping.action ?? "agent",
    ...(agentId === undefined ? {} : { agentId }),
    ...(forEach === undefined ? {} : { forEach }),
    ...(transform ? { transform: transform.module } : {}),
    ...(verify ? { verify: { provider: verify.provider, mode: verify.mode ?? "with-token" } } : {}),
    isUnsafe: mapping.allowUnsafeExternalContent ?? false,
    ...(lost === undefined ? {} : { broken: lost }),
  };
}
