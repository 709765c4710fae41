import type { RunHandle } from "svc/sdk";
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
  const { chunks, demand, isLegacy = false } = options;
  const text = new StreamedText();
  const calls = new StreamedCalls(chunks, isLegacy);
  // With a demand no text is shown before the call is certain.
  let isHeld = demand !== undefined;
  for await (const { stream, data } of handle.events()) {
    const frames: string[] = [];
    if (stream === "assistant") {
      const added = text.add(data);
      if (added === undefined) return fail(out, internalProblem);
      if (!isHeld && added !== "") frames.push(chunks.text(added));
    } else if (stream === "reasoning" && typeof data.delta === "string" && data.delta !== "") {
      frames.push(chunks.reasoning(data.delta));
    } else if (stream === "toolInput") {
      const call = { id: String(data.toolCallId), name: String(data.name) };
      if (isHeld && demand && isMet(demand, [call])) {
        isHeld = false;
        if (text.sent !== "") frames.push(chunks.text(text.sent));
      }
      if (!isHeld) frames.push(...calls.add(call, String(data.delta)));
    }
    await writeAll(out, frames);
  }
  const verdict = judge(await handle.done, demand);
  if (!verdict.ok) return fail(out, verdict.problem);
  const rest = restOf(verdict, isHeld ? "" : text.sent);
  if (rest === undefined) return fail(out, internalProblem);
  await writeAll(out, [
    ...(rest === "" ? [] : [chunks.text(rest)]),
    ...verdict.toolCalls.flatMap((call) => calls.rest(call)),
    chunks.finish(verdict.finishReason),
    ...(options.includeUsage ? [chunks.usage(verdict.usage)] : []),
    doneFrame,
  ]);
  out.close();
}

async function writeAll(out: EventStream, frames: readonly string[]): Promise<void> {
  for (const frame of frames) {
    if (!out.hasRoom()) await out.room();
    out.write(frame);
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
