import { cutEnd, type RunRequest } from "svc/sdk";

const LINE_CHARS = 160;
/** Lines of one session; of older ones only the number is kept. */
const MAX_LINES = 20;
/** Sessions with something to sum up; the one that waited longest is forgotten first. */
const MAX_SESSIONS = 1_000;

/** Messages that got no turn because too many were waiting, for the next turn of their session to read in brief. */
export class LeftOut {
  readonly #sessions = new Map<string, { lines: string[]; count: number }>();

  add(sessionKey: string, line: string): void {
    const known = this.#sessions.get(sessionKey) ?? { lines: [], count: 0 };
    this.#sessions.set(sessionKey, { lines: [...known.lines, line].slice(-MAX_LINES), count: known.count + 1 });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** Note for the model before the next message; undefined when nothing was left out. */
  take(sessionKey: string): string | undefined {
    const known = this.#sessions.get(sessionKey);
    if (!known) return undefined;
    this.#sessions.delete(sessionKey);
    const { lines, count } = known;
    const more = count > lines.length ? [`- (${count - lines.length} earlier ones)`] : [];
    return [
      `[While you were busy, ${count} ${count === 1 ? "message" : "messages"} got no answer:]`,
      ...more,
      ...lines.map((l) => `- ${l}`),
    ].join("\n");
  }
}

/** One line that stands for a message. */
export function summaryLine({ message, attachments }: Pick<RunRequest, "message" | "attachments">): string {
  const text = message.replace(/\s+/g, " ").trim();
  const files = attachments?.length ?? 0;
  return cutEnd(`${text}${files > 0 ? ` [${files} ${files === 1 ? "attachment" : "attachments"}]` : ""}`.trim(), LINE_CHARS);
}
