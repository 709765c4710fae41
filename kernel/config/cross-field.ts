import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "../process/paths.ts";
import type { Conflict, RuleContext } from "./conflict.ts";
import { agentConflicts } from "./conflicts-agents.ts";
import { gatewayConflicts } from "./conflicts-gateway.ts";
import { hookConflicts, tokenReuseConflicts } from "./conflicts-hooks.ts";
import { mcpConflicts } from "./conflicts-mcp.ts";
import { channelConflicts, sessionConflicts } from "./conflicts-messages.ts";
import { inFileOrder } from "./issues.ts";
import type { Locate } from "./place.ts";
import { rootSchema } from "./root-schema.ts";

/** Root section of the key tree. */
export type ConfigSection = keyof SvcConfig & string;

/** Rules between keys, with the sections each of them reads. */
const rules: ReadonlyArray<{ reads: readonly ConfigSection[]; check(config: SvcConfig, context: RuleContext): Conflict[] }> = [
  { reads: ["gateway"], check: gatewayConflicts },
  { reads: ["agents"], check: agentConflicts },
  { reads: ["hooks"], check: hookConflicts },
  { reads: ["hooks", "gateway"], check: tokenReuseConflicts },
  { reads: ["session"], check: sessionConflicts },
  { reads: ["channels"], check: channelConflicts },
  { reads: ["mcp"], check: mcpConflicts },
];

/**
 * Rules between keys of a config that is valid key by key.
 *
 * @param config with references to secrets in place or resolved: a secret that is only named is there all the same
 * @param file name of the main file
 * @param options.env where `SVC_GATEWAY_TOKEN` and `SVC_GATEWAY_PASSWORD` may stand; `broken`: sections whose rules are not asked; `resolved`: the
 *   same config with secrets, so that a hook token can be compared with the gateway's
 */
export function crossFieldIssues(
  config: SvcConfig,
  file: string,
  locate: Locate,
  options: { env?: Env; broken?: ReadonlySet<string>; resolved?: SvcConfig } = {},
): ConfigIssue[] {
  const { env = {}, broken, resolved = config } = options;
  const fromEnv = [envValue(env, "SVC_GATEWAY_TOKEN"), envValue(env, "SVC_GATEWAY_PASSWORD")];
  const context = { gatewaySecrets: fromEnv.filter((secret) => secret !== undefined), resolved };
  const conflicts = rules
    .filter(({ reads }) => !reads.some((section) => broken?.has(section)))
    .flatMap(({ check }) => check(config, context));
  const issues = conflicts.map(
    ({ path, message, hint }): ConfigIssue => ({
      path: path.join("."),
      code: "conflict",
      message,
      ...(hint ? { hint } : {}),
      file,
      ...locate(path),
    }),
  );
  return inFileOrder(issues, file);
}

/**
 * The rules over the sections that are valid, for a tree in which others are not: everything is told at once.
 *
 * @param value tree that the root schema refused
 */
export function crossFieldIssuesBeside(value: unknown, file: string, locate: Locate, options: { env?: Env } = {}): ConfigIssue[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const broken = new Set<string>();
  const sections = Object.entries(rootSchema.shape).map(([section, schema]) => {
    const parsed = schema.safeParse((value as Record<string, unknown>)[section], { jitless: true });
    if (!parsed.success) broken.add(section);
    return [section, parsed.data ?? schema.parse(undefined)];
  });
  return crossFieldIssues(Object.fromEntries(sections) as SvcConfig, file, locate, { ...options, broken });
}
