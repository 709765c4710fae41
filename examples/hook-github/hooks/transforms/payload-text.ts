/** Longest piece of somebody's text that is shown to the agent. */
const MAX_CHARS = 2_000;

/** The text at `a.b.c` of a payload; empty where there is none. */
export function textAt(payload: unknown, path: string): string {
  let at: unknown = payload;
  for (const key of path.split("."))
    at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  return typeof at === "string" ? at : "";
}

/** Beginning of the text, with a mark where something is left out. */
export function opening(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} …` : text;
}
