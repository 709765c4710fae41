import type { RunEvent, RunHandle } from "svc/sdk";
import { arrivalsOf, itemsOf } from "svc/sdk/internal";
import { type Chunks, doneFrame, errorFrame } from "./chunks.ts";
import { argumentsOf, judge, type Verdict } from "./completion.ts";
import { internalProblem, type Problem } from "./error-body.ts";
import type { EventStream } from "./event-stream.ts";
import { type Demand, isMet } from "./tools.ts";

/** Between two messages of one run; the same as in the run's whole text. */
const MESSAGE_GAP = "\n\n";

export interface RelayOptions {
  chunks: Chunks;
  includeUsage: boolean;
  demand: Demand | undefined;
  /** Only the first call goes out: the legacy form has place for one. */
  isLegacy?: boolean;
}

/** Sends a run to the client as it happens, and ends the stream. The reader of the events joins deltas while the client is slow. */
export async function relay(handle: RunHandle, out: EventStream, options: RelayOptions): Promise<void> {
  const frames = new RunFrames(options);
  for await (const arrived of arrivalsOf(handle.events())) {
    const isWhole = frames.add(itemsOf(arrived));
    await write(out, frames.take());
    if (!isWhole) return fail(out, internalProblem);
  }
  const verdict = judge(await handle.done, options.demand);
  if (!verdict.ok) return fail(out, verdict.problem);
  if (!frames.end(verdict)) return fail(out, internalProblem);
  await write(out, frames.take());
  out.close();
}

/** Writes as soon as there is room. */
async function write(out: EventStream, frames: string): Promise<void> {
  if (frames === "") return;
  if (!out.hasRoom()) await out.room();
  out.write(frames);
}

/** The frames of one run. What arrives at once leaves in one piece; each delta keeps a frame of its own. */
class RunFrames {
  readonly #options: RelayOptions;
  readonly #text = new StreamedText();
  readonly #calls: StreamedCalls;
  /** With a demand no text is shown before the call is certain. */
  #isHeld: boolean;
  #frames = "";

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#calls = new StreamedCalls(options.chunks, options.isLegacy ?? false);
    this.#isHeld = options.demand !== undefined;
  }

  /** The frames since the last time. */
  take(): string {
    const frames = this.#frames;
    this.#frames = "";
    return frames;
  }

  /** @returns false when an event changes text that was sent */
  add(events: readonly RunEvent[]): boolean {
    const { chunks } = this.#options;
    for (const { stream, data } of events) {
      if (stream === "assistant") {
        const added = this.#text.add(data);
        if (added === undefined) return false;
        if (added !== "" && !this.#isHeld) this.#frames += chunks.text(added);
      } else if (stream === "reasoning" && typeof data.delta === "string" && data.delta !== "") {
        this.#frames += chunks.reasoning(data.delta);
      } else if (stream === "toolInput") {
        this.#addCall({ id: String(data.toolCallId), name: String(data.name) }, String(data.delta));
      }
    }
    return true;
  }

  /** @returns false when the final text does not begin with the text that was sent */
  end(verdict: Verdict & { ok: true }): boolean {
    const { chunks, includeUsage } = this.#options;
    const rest = restOf(verdict, this.#isHeld ? "" : this.#text.sent);
    if (rest === undefined) return false;
    if (rest !== "") this.#frames += chunks.text(rest);
    for (const call of verdict.toolCalls) this.#frames += this.#calls.rest(call).join("");
    this.#frames += chunks.finish(verdict.finishReason);
    if (includeUsage) this.#frames += chunks.usage(verdict.usage);
    this.#frames += doneFrame;
    return true;
  }

  #addCall(call: { id: string; name: string }, delta: string): void {
    const { chunks, demand } = this.#options;
    if (this.#isHeld && demand && isMet(demand, [call])) {
      this.#isHeld = false;
      if (this.#text.sent !== "") this.#frames += chunks.text(this.#text.sent);
    }
    if (!this.#isHeld) this.#frames += this.#calls.add(call, delta).join("");
  }
}

function fail(out: EventStream, problem: Problem): void {
  out.write(errorFrame(problem));
  out.write(doneFrame);
  out.close();
}

/** Rest of the final text that is still to be sent; undefined when the sent text is not its beginning. */
function restOf(verdict: Verdict & { ok: true }, sent: string): string | undefined {
  return verdict.text.startsWith(sent) ? verdict.text.slice(sent.length) : undefined;
}

/** The text of a run's messages in a row. */
export class StreamedText {
  sent = "";
  #itemId: unknown;

  /** Text that an event adds; undefined when it changes text that was sent. */
  add(data: { [key: string]: unknown }): string | undefined {
    if (data.replace === true) return undefined;
    const delta = typeof data.delta === "string" ? data.delta : "";
    if (delta === "") return "";
    const gap = this.sent !== "" && data.itemId !== this.#itemId ? MESSAGE_GAP : "";
    this.#itemId = data.itemId;
    this.sent += gap + delta;
    return gap + delta;
  }
}

/** Calls of the client's tools, sent while the model writes them. */
class StreamedCalls {
  readonly #chunks: Chunks;
  readonly #isLegacy: boolean;
  /** By id: number of the call, and whether anything of its arguments was sent. */
  readonly #sent = new Map<string, { index: number; hasArguments: boolean }>();

  constructor(chunks: Chunks, isLegacy: boolean) {
    this.#chunks = chunks;
    this.#isLegacy = isLegacy;
  }

  add(call: { id: string; name: string }, delta: string): string[] {
    const known = this.#sent.get(call.id);
    const entry = known ?? { index: this.#sent.size, hasArguments: false };
    if (!known) this.#sent.set(call.id, entry);
    if (this.#isLegacy && entry.index > 0) return [];
    if (delta !== "") entry.hasArguments = true;
    const start = known ? [] : [this.#chunks.callStart(entry.index, call)];
    return delta === "" ? start : [...start, ...this.#chunks.callArguments(entry.index, delta)];
  }

  /** Frames that a finished call still needs: all of it when it was not streamed, or the arguments of one that has none. */
  rest(call: { id: string; name: string; args: unknown }): string[] {
    return this.#sent.get(call.id)?.hasArguments ? [] : this.add(call, argumentsOf(call.args));
  }
}
