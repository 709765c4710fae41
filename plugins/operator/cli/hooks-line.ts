import type { ResultOf } from "svc/sdk";

/** `/hooks, 3 mappings, 2 waiting, 1 failed`; undefined while hooks are off and nothing of them is left. */
export function hooksLine(hooks: ResultOf<"health">["hooks"]): string | undefined {
  if (!hooks) return undefined;
  const { enabled, path, mappings = 0, accepted, running, failed, expired } = hooks;
  const counts = (
    [
      [accepted + running, "waiting"],
      [failed, "failed"],
      [expired, "expired"],
    ] as const
  ).flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : []));
  if (!enabled) return counts.length > 0 ? ["off", ...counts].join(", ") : undefined;
  return [path ?? "not open", `${mappings} ${mappings === 1 ? "mapping" : "mappings"}`, ...counts].join(", ");
}
