import { createContext, Script } from "node:vm";
import type { Clock, Logger } from "svc/sdk";
import { Recent } from "./recent.ts";

/** Part of a text that is looked at: who means the agent says so at its beginning. */
const MAX_TEXT_CHARS = 512;
/** Time of the processor that all patterns of an agent together have for one text; the check of the config refuses the worst ones, not every slow one. */
const BUDGET_MS = 8;
/** Longest try. On a busy machine it may pass while no pattern was even running, so there are some. */
const TRY_MS = 4;
const MAX_TRIES = 4;
/** A pattern that took longer is left out for so long in that conversation: whoever writes such texts must not keep the gateway busy, nor silence it elsewhere. */
const LEFT_OUT_MS = 60_000;
/** Patterns that are kept; the config of an agent has at most 100. */
const MAX_COMPILED = 1_000;

interface Compiled {
  source: string;
  pattern: RegExp;
  /** It is not named in the log again before. */
  quietUntil: number;
}

/** Finds the patterns of an agent (`groupChat.mentionPatterns`) in what people write. They are an operator's, and the texts are a stranger's, so their time is bounded. */
export class MentionPatterns {
  readonly #deps: { clock: Pick<Clock, "monotonic">; logger: Logger };
  readonly #compiled = new Map<string, Compiled | undefined>();
  readonly #leftOut = new Recent<number>();

  constructor(deps: { clock: Pick<Clock, "monotonic">; logger: Logger }) {
    this.#deps = deps;
  }

  /** True when one of them is found in the text, in whatever case. What was not looked for when the time was over is not found. */
  matches(text: string, sources: readonly string[], conversation: string): boolean {
    const usable = sources.flatMap((source) => this.#compiledOf(source) ?? []);
    const wanted = usable.filter(({ source }) => !this.#isLeftOut(source, conversation));
    if (wanted.length === 0) return false;
    const search = createSearch(text.slice(0, MAX_TEXT_CHARS), wanted, this.#deps.clock);
    const found = withinBudget(search.run);
    if (found === undefined) this.#leaveOut(search.slowest(), conversation);
    return found ?? false;
  }

  #isLeftOut(source: string, conversation: string): boolean {
    return this.#deps.clock.monotonic() < (this.#leftOut.get(keyOf(source, conversation)) ?? Number.NEGATIVE_INFINITY);
  }

  #leaveOut(slow: Compiled | undefined, conversation: string): void {
    if (!slow) return;
    const now = this.#deps.clock.monotonic();
    this.#leftOut.set(keyOf(slow.source, conversation), now + LEFT_OUT_MS);
    if (now < slow.quietUntil) return;
    slow.quietUntil = now + LEFT_OUT_MS;
    this.#deps.logger.warn("a pattern of mentions takes too long; it is left out for a minute in that conversation", {
      pattern: slow.source,
    });
  }

  #compiledOf(source: string): Compiled | undefined {
    if (this.#compiled.has(source)) return this.#compiled.get(source);
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
    const pattern = compile(source);
    const compiled = pattern && { source, pattern, quietUntil: Number.NEGATIVE_INFINITY };
    this.#compiled.set(source, compiled);
    return compiled;
  }
}

function keyOf(source: string, conversation: string): string {
  return JSON.stringify([source, conversation]);
}

/** A search that may be cut off at any moment; `run` again goes on with the pattern that was under way. */
function createSearch(text: string, patterns: readonly Compiled[], clock: Pick<Clock, "monotonic">) {
  let at = 0;
  let begun = 0;
  let slow: { one: Compiled; ms: number } | undefined;
  const note = (one: Compiled | undefined) => {
    const ms = clock.monotonic() - begun;
    if (one && ms >= (slow?.ms ?? 0)) slow = { one, ms };
  };
  return {
    run(): boolean {
      for (begun = clock.monotonic(); at < patterns.length; at++, begun = clock.monotonic()) {
        const one = patterns[at];
        if (one?.pattern.test(text)) return true;
        note(one);
      }
      return false;
    },
    /** The one that took longest, be it the one that was cut off. */
    slowest(): Compiled | undefined {
      note(patterns[at]);
      return slow?.one;
    },
  };
}

/** The check of the config has refused what is none. */
function compile(source: string): RegExp | undefined {
  try {
    const pattern = new RegExp(source, "iu");
    // The first run translates it, which is not the text's fault.
    pattern.test("");
    return pattern;
  } catch {
    return undefined;
  }
}

const room = createContext({ job: undefined });
const runJob = new Script("job()");

/** @param job goes on where it was cut off @returns undefined when the time was over */
function withinBudget(job: () => boolean): boolean | undefined {
  const begun = process.cpuUsage();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = inTime(job);
    if (found !== undefined) return found;
    const { user, system } = process.cpuUsage(begun);
    if ((user + system) / 1_000 >= BUDGET_MS - 1) return undefined;
  }
  return undefined;
}

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
