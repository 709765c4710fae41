import { createContext, Script } from "node:vm";
import type { Clock, Logger } from "svc/sdk";

/** Part of a text that is looked at: who means the agent says so at its beginning. */
const MAX_TEXT_CHARS = 4_000;
/** Longest time of one of the two tries that a pattern has for one text; the check of the config refuses the worst ones, not every slow one. */
const TRY_MS = 8;
/** A pattern that took longer is left out for so long: whoever writes such texts must not keep the gateway busy with them. */
const LEFT_OUT_MS = 60_000;
/** Patterns that are kept; the config of an agent has at most 100. */
const MAX_COMPILED = 1_000;

/** Finds the patterns of an agent (`groupChat.mentionPatterns`) in what people write. They are an operator's, and the texts are a stranger's, so their time is bounded. */
export class MentionPatterns {
  readonly #deps: { clock: Pick<Clock, "monotonic">; logger: Logger };
  readonly #compiled = new Map<string, { pattern: RegExp | undefined; leftOutUntil: number }>();

  constructor(deps: { clock: Pick<Clock, "monotonic">; logger: Logger }) {
    this.#deps = deps;
  }

  /** True when one of them is found in the text, in whatever case. */
  matches(text: string, patterns: readonly string[]): boolean {
    const begin = text.slice(0, MAX_TEXT_CHARS);
    return patterns.some((source) => this.#isIn(begin, source));
  }

  #isIn(text: string, source: string): boolean {
    const now = this.#deps.clock.monotonic();
    const entry = this.#compiledOf(source);
    const { pattern } = entry;
    if (!pattern || now < entry.leftOutUntil) return false;
    // Twice: on a busy machine the limit may pass while the pattern was not even running.
    const found = inTime(() => pattern.test(text)) ?? inTime(() => pattern.test(text));
    if (found !== undefined) return found;
    entry.leftOutUntil = now + LEFT_OUT_MS;
    this.#deps.logger.warn("a pattern of mentions takes too long; it is left out for a minute", { pattern: source });
    return false;
  }

  #compiledOf(source: string) {
    const known = this.#compiled.get(source);
    if (known) return known;
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
    const entry = { pattern: compile(source), leftOutUntil: Number.NEGATIVE_INFINITY };
    this.#compiled.set(source, entry);
    return entry;
  }
}

/** The check of the config has refused what is none. */
function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "iu");
  } catch {
    return undefined;
  }
}

const room = createContext({ job: undefined });
const runJob = new Script("job()");

/** Undefined when it was cut off. */
function inTime(job: () => boolean): boolean | undefined {
  room.job = job;
  try {
    return runJob.runInContext(room, { timeout: TRY_MS }) as boolean;
  } catch {
    return undefined;
  } finally {
    room.job = undefined;
  }
}
