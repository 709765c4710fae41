/** Efforts in the vendor's words, the least first. */
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
type Effort = (typeof efforts)[number];

/** Efforts that a family takes, the first that fits wins; others are refused with the whole request (developers.openai.com/api/docs/guides/reasoning). */
const families: ReadonlyArray<readonly [RegExp, readonly Effort[]]> = [
  [/^o\d+(-|$)/, ["low", "medium", "high"]],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5-codex/, ["low", "medium", "high"]],
  [/^gpt-5(-|$)/, ["minimal", "low", "medium", "high"]],
  [/^gpt-5\.1-codex-max/, ["low", "medium", "high", "xhigh"]],
  [/^gpt-5\.1-codex/, ["low", "medium", "high"]],
  [/^gpt-5\.1(-|$)/, ["none", "low", "medium", "high"]],
  [/^gpt-5\.\d+-pro/, ["medium", "high", "xhigh"]],
  [/^gpt-5\.\d+-codex/, ["low", "medium", "high", "xhigh"]],
  [/^gpt-5\.\d+(-|$)/, ["none", "low", "medium", "high", "xhigh"]],
  // `openai-language-model-capabilities.ts` of @ai-sdk/openai 3.0.141
  [/^gpt-(6-sol|6-luna|6\.1-terra)$/, ["none", "low", "medium", "high", "xhigh"]],
  [/^gpt-([6-9]|\d\d)/, ["low", "medium", "high", "xhigh"]],
];

/**
 * The effort for a thinking level: the least that the model takes and that is not less than asked for, or its greatest. A model that cannot do without
 * reasoning reasons as little as it can when the level is `off`. Undefined leaves it to the vendor. Pure.
 */
export function effortOf(model: string, level: string | undefined): string | undefined {
  if (level === undefined) return undefined;
  const base = /^ft:([^:]+)/.exec(model)?.[1] ?? model;
  const taken = families.find(([pattern]) => pattern.test(base))?.[1];
  if (taken === undefined) return level === "off" ? undefined : level;
  const wanted = efforts.indexOf((level === "off" ? "none" : level) as Effort);
  if (wanted === -1) return undefined;
  return taken.find((effort) => efforts.indexOf(effort) >= wanted) ?? taken.at(-1);
}
