import { hookErrors } from "../../sdk/hooks/errors.ts";
import { type HookFilter, type HookFilterKey, type HookName, hookSpec } from "../../sdk/hooks.ts";

const fields: Record<HookFilterKey, string> = {
  channel: "channel",
  agentId: "agentId",
  sessionKeyPrefix: "sessionKey",
  tool: "tool",
  trigger: "trigger",
};

/** Decides whether a tap is called for an event. */
export type FilterCheck = (event: unknown) => boolean;

/**
 * Prepares a filter for its hook.
 * @returns undefined when there is nothing to check
 * @throws {SvcError} `hook-filter` for a key that events of this hook never carry: such a tap would never be called
 */
export function compileFilter(hook: HookName, plugin: string, filter: HookFilter | undefined): FilterCheck | undefined {
  const given = Object.entries(filter ?? {}).filter(([, wanted]) => wanted !== undefined);
  if (given.length === 0) return undefined;
  const { filters } = hookSpec(hook);
  const checks = given.map(([name, wanted]) => {
    const key = name as HookFilterKey;
    if (!filters.includes(key)) {
      throw hookErrors.hookFilter({ hook, plugin, key, expected: filters.length > 0 ? filters.join(", ") : "no filter" });
    }
    const values = typeof wanted === "string" ? [wanted] : [...(wanted as readonly string[])];
    const field = fields[key];
    const fits =
      key === "sessionKeyPrefix" ? (value: string) => values.some((v) => value.startsWith(v)) : (v: string) => values.includes(v);
    return (event: Record<string, unknown>) => typeof event[field] === "string" && fits(event[field]);
  });
  return (event) => checks.every((check) => check(event as Record<string, unknown>));
}
