import type { HookSpec } from "../../sdk/hooks.ts";

/**
 * Describes the problem with a tap's answer: its type for the kind of hook, the shape of a changed event, and the hook's own rule.
 * @returns undefined for a sound answer; `undefined` and `null` always are
 */
export function answerProblem(spec: HookSpec, event: unknown, answer: unknown): string | undefined {
  if (answer === undefined || answer === null || spec.kind === "observe" || spec.kind === "collect") return undefined;
  if (typeof answer !== "object" || Array.isArray(answer)) return `returned ${nameOf(answer)}; expected an object or nothing`;
  const given = answer as Record<string, unknown>;
  if (spec.kind === "gate")
    return given.block === undefined || typeof given.block === "boolean" ? undefined : "`block` must be true or false";
  if (spec.kind === "claim") {
    if (given.handled !== true)
      return given.handled === undefined || given.handled === false ? undefined : "`handled` must be true or false";
    return spec.check?.(given);
  }
  return changedShape(event as Record<string, unknown>, given) ?? spec.check?.(given);
}

/** A changed event keeps the type of each field it had. */
function changedShape(before: Record<string, unknown>, after: Record<string, unknown>): string | undefined {
  const key = Object.keys(before).find((k) => before[k] !== undefined && nameOf(before[k]) !== nameOf(after[k]));
  return key === undefined ? undefined : `returned an event whose ${key} is ${nameOf(after[key])}; expected ${nameOf(before[key])}`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value)
    ? "a list"
    : value === undefined
      ? "missing"
      : `${/^[aeiou]/.test(typeof value) ? "an" : "a"} ${typeof value}`;
}
