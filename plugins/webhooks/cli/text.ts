import type { ResultOf } from "svc/sdk";

export type Delivery = ResultOf<"webhooks.recent">["deliveries"][number];
export type Mapping = ResultOf<"webhooks.list">["mappings"][number];

/** `2026-03-01 12:03` in local time. */
export function localTime(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** `github, with the token`; what a request of this mapping has to bring. */
export function credentialWords(verify: Mapping["verify"]): string {
  if (!verify) return "token";
  return verify.mode === "instead" ? `signature (${verify.provider})` : `token and signature (${verify.provider})`;
}

/** Returns why a delivery, or its last attempt, failed; undefined when there is nothing to say. */
export function reasonOf({ result, steps }: Pick<Delivery, "result" | "steps">): string | undefined {
  const said = [result?.reason, steps.run?.error, result?.code];
  return said.find((one): one is string => typeof one === "string" && one !== "");
}

/** `done`, or what became of a run that went wrong in its own way: `done (error)`. */
export function stateWords({ state, result }: Pick<Delivery, "state" | "result">): string {
  const status = result?.status;
  return state === "done" && typeof status === "string" && status !== "ok" ? `done (${status})` : state;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
