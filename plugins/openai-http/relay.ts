import type { RunHandle } from "svc/sdk";
import { type Chunks, doneFrame, errorFrame } from "./chunks.ts";
import { judge, type Verdict } from "./completion.ts";
import { internalProblem, type Problem } from "./error-body.ts";
import type { EventStream } from "./event-stream.ts";
import type { Demand } from "./tools.ts";

/** Between two messages of one run; the same as in the run's whole text. */
const MESSAGE_GAP = "\n\n";

export interface RelayOptions {
  chunks: Chunks;
  includeUsage: boolean;
  demand: Demand | undefined;
}

/** Sends a run to the client as it happens, and ends the stream. The reader of the events joins deltas while the client is slow. */
export async function relay(handle: RunHandle, out: EventStream, options: RelayOptions): Promise<void> {
  const text = new StreamedText();
  for await (const event of handle.events()) {
    if (event.stream !== "assistant") continue;
    const added = text.add(event.data);
    if (added === undefined) return fail(out, internalProblem);
    // With a demand nothing is shown before the call is certain.
    if (options.demand || added === "") continue;
    if (!out.hasRoom()) await out.room();
    out.write(options.chunks.text(added));
  }
  const verdict = judge(await handle.done, options.demand);
  if (!verdict.ok) return fail(out, verdict.problem);
  const rest = restOf(verdict, options.demand ? "" : text.sent);
  if (rest === undefined) return fail(out, internalProblem);
  await end(out, { ...options, verdict, rest });
}

async function end(out: EventStream, options: RelayOptions & { verdict: Verdict & { ok: true }; rest: string }): Promise<void> {
  const { chunks, verdict, rest } = options;
  const frames = [
    ...(rest === "" ? [] : [chunks.text(rest)]),
    ...verdict.toolCalls.flatMap((call, i) => chunks.toolCall(i, call)),
    chunks.finish(verdict.finishReason),
    ...(options.includeUsage ? [chunks.usage(verdict.usage)] : []),
    doneFrame,
  ];
  for (const frame of frames) {
    if (!out.hasRoom()) await out.room();
    out.write(frame);
  }
  out.close();
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
class StreamedText {
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
