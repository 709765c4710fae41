import { setImmediate as nextTurn } from "node:timers/promises";
import { isSensitiveName } from "svc/sdk/internal";
import { cutMiddle } from "../common/cut.ts";

/** Characters that are masked at a stretch. */
const AT_ONCE = 200_000;
const MAX_DEPTH = 32;
const MASK = "[redacted]";

/** Texts as people may see them: without secrets, and no longer than they asked for. */
export class ShownText {
  readonly #redact: (text: string) => Promise<string>;
  readonly #maxChars: number;
  #left = AT_ONCE;

  constructor(redact: (text: string) => Promise<string>, maxChars: number) {
    this.#redact = redact;
    this.#maxChars = maxChars;
  }

  /** Masked first: a secret that the cut goes through would not be found. */
  async text(value: string): Promise<string> {
    return cutMiddle(await this.whole(value), this.#maxChars);
  }

  async whole(value: string): Promise<string> {
    this.#left -= value.length;
    if (this.#left < 0) {
      this.#left = AT_ONCE;
      await nextTurn();
    }
    return this.#redact(value);
  }

  /** Arguments as a model may have them: without secrets, and whole. */
  value(value: unknown): Promise<unknown> {
    return this.#masked(value, 0);
  }

  /** Arguments without secrets, and without values under names that speak of one; as text that is cut where they are too long. */
  async json(value: unknown): Promise<unknown> {
    const clean = await this.#masked(value, 0);
    const text = JSON.stringify(clean) ?? "null";
    return text.length <= this.#maxChars ? clean : cutMiddle(text, this.#maxChars);
  }

  async #masked(value: unknown, depth: number): Promise<unknown> {
    if (typeof value === "string") return this.whole(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return "[too deep]";
    if (Array.isArray(value)) {
      const out: unknown[] = [];
      for (const member of value) out.push(await this.#masked(member, depth + 1));
      return out;
    }
    const out: Array<[string, unknown]> = [];
    for (const [name, member] of Object.entries(value)) {
      const isHidden = isSensitiveName(name) && (typeof member === "string" || (typeof member === "object" && member !== null));
      out.push([name, isHidden ? MASK : await this.#masked(member, depth + 1)]);
    }
    return Object.fromEntries(out);
  }
}
