import type { ToolResult } from "svc/sdk";
import { digestOf } from "../common/digest.ts";

/** Times that the same call brings the same result until the model is told, and until it has to answer. */
const TOLD_AT = 3;
const STUCK_AT = 5;
/** Calls of one run that are remembered. */
const MAX_CALLS = 1_000;

const note =
  "Note: this was the third call with the same arguments and the same result. Another one brings nothing new: try something else, or answer.";

/** Notices a model that goes in circles: the same tool with the same arguments and the same result. */
export class CallWatch {
  readonly #times = new Map<string, number>();
  #isStuck = false;

  /** The next turn has to be the last. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** @returns the result, with a note where it came for the third time */
  seen({ name, args }: { name: string; args: unknown }, result: ToolResult): ToolResult {
    const key = digestOf([name, args, result.content]);
    const times = (this.#times.get(key) ?? 0) + 1;
    if (times > 1 || this.#times.size < MAX_CALLS) this.#times.set(key, times);
    if (times >= STUCK_AT) this.#isStuck = true;
    return times === TOLD_AT ? { ...result, content: [...result.content, { type: "text", text: note }] } : result;
  }
}
