import { isRecord } from "svc/sdk";
import { parseJson } from "svc/sdk/internal";
import { doneFrame, pieces } from "../chunks.ts";
import { argumentsOf } from "../completion.ts";
import type { EventStream } from "../event-stream.ts";
import { uuidOf } from "../idempotency.ts";
import {
  type Answer,
  callItem,
  callStatus,
  incompleteReason,
  messageId,
  messageItem,
  type Phase,
  phaseOf,
  type ResponseHead,
  textPart,
} from "./resource.ts";

/** Frames with their numbers, no faster than the client takes them. */
export class Events {
  readonly #out: EventStream;
  #next = 0;

  constructor(out: EventStream) {
    this.#out = out;
  }

  async send(type: string, fields: object): Promise<void> {
    if (!this.#out.hasRoom()) await this.#out.room();
    this.#out.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#next++, ...fields })}\n\n`);
  }

  end(): void {
    this.#out.write(doneFrame);
    this.#out.close();
  }
}

interface StreamedCall {
  id: string;
  name: string;
  index: number;
  /** Arguments as they were sent. */
  args: string;
}

interface StreamedMessage {
  id: string;
  index: number;
  text: string;
}

/**
 * The items of one response, sent while they are written, one after the other: an item ends before the next one begins. What cannot be sent in this
 * order yet waits for the end of the answer.
 */
export class ItemEvents {
  /** All text that was sent. */
  text = "";
  readonly #events: Events;
  readonly #head: ResponseHead;
  readonly #hasTools: boolean;
  /** Items that have ended, in their places. */
  readonly #items: object[] = [];
  readonly #begunCalls = new Set<string>();
  #message: StreamedMessage | undefined;
  #call: StreamedCall | undefined;
  /** Only the calls that have begun are sent before the end. */
  #isHeld = false;

  /** @param given.hasTools the caller has tools: whether the text is the answer is known at its end only */
  constructor(events: Events, head: ResponseHead, given: { hasTools: boolean }) {
    this.#events = events;
    this.#head = head;
    this.#hasTools = given.hasTools;
  }

  /** Text behind a call waits for `end`. */
  async addText(delta: string): Promise<void> {
    if (delta === "" || this.#begunCalls.size > 0) return;
    await this.#writeText(delta);
  }

  async addArguments(call: { id: string; name: string }, delta: string): Promise<void> {
    if (this.#call?.id !== call.id) {
      // A vendor may write two calls by turns: the second one waits, as does the rest of a call that has ended.
      if (this.#isHeld || this.#begunCalls.has(call.id) || (this.#call && !isWhole(this.#call.args))) {
        this.#isHeld = true;
        return;
      }
      await this.#beginCall(call);
    }
    await this.#writeArguments(delta);
  }

  /**
   * Sends what is missing of the items, and their ends.
   * @param answer its text begins with what was sent
   * @returns the items in their places
   */
  async end(answer: Answer): Promise<object[]> {
    const open = this.#call;
    const made = open && answer.toolCalls.find(({ id }) => id === open.id);
    if (open && open.args === "" && made) await this.#writeArguments(argumentsOf(made.args));
    if (open) await this.#endCall(made ? callStatus(made) : "incomplete");
    const rest = answer.text.slice(this.text.length);
    if (rest !== "") await this.#writeText(rest);
    const status = incompleteReason(answer) === undefined ? "completed" : "incomplete";
    await this.#endMessage(status, phaseOf(answer));
    for (const call of answer.toolCalls) {
      if (this.#begunCalls.has(call.id)) continue;
      await this.#beginCall(call);
      await this.#writeArguments(argumentsOf(call.args));
      await this.#endCall(callStatus(call));
    }
    return this.#items;
  }

  async #writeText(delta: string): Promise<void> {
    const message = this.#message ?? (await this.#beginMessage());
    message.text += delta;
    this.text += delta;
    await this.#events.send("response.output_text.delta", { ...placeOf(message), delta, logprobs: [] });
  }

  async #beginMessage(): Promise<StreamedMessage> {
    const index = this.#items.length;
    // Text in front of the calls and behind them are two messages; the first has the id that later requests may name.
    const id = this.text === "" ? messageId(this.#head) : `msg_${uuidOf(`${this.#head.id} ${index}`)}`;
    const message = { id, index, text: "" };
    this.#message = message;
    const item = { ...messageItem(this.#head, { status: "in_progress", ...(this.#hasTools ? {} : { phase: "final_answer" }) }), id };
    await this.#events.send("response.output_item.added", { output_index: index, item });
    await this.#events.send("response.content_part.added", { ...placeOf(message), part: textPart("") });
    return message;
  }

  async #endMessage(status: "completed" | "incomplete", phase: Phase): Promise<void> {
    const message = this.#message;
    if (!message) return;
    this.#message = undefined;
    const { id, index, text } = message;
    await this.#events.send("response.output_text.done", { ...placeOf(message), text, logprobs: [] });
    await this.#events.send("response.content_part.done", { ...placeOf(message), part: textPart(text) });
    const item = { ...messageItem(this.#head, { status, phase, text }), id };
    this.#items.push(item);
    await this.#events.send("response.output_item.done", { output_index: index, item });
  }

  async #beginCall({ id, name }: { id: string; name: string }): Promise<void> {
    await this.#endMessage("completed", "commentary");
    if (this.#call) await this.#endCall("completed");
    const call = { id, name, index: this.#items.length, args: "" };
    this.#call = call;
    this.#begunCalls.add(id);
    await this.#events.send("response.output_item.added", { output_index: call.index, item: this.#itemOf(call, "in_progress") });
  }

  async #writeArguments(delta: string): Promise<void> {
    const call = this.#call as StreamedCall;
    call.args += delta;
    const at = { item_id: this.#itemOf(call, "in_progress").id, output_index: call.index };
    for (const piece of pieces(delta)) await this.#events.send("response.function_call_arguments.delta", { ...at, delta: piece });
  }

  async #endCall(status: "completed" | "incomplete"): Promise<void> {
    const call = this.#call as StreamedCall;
    this.#call = undefined;
    const item = this.#itemOf(call, status);
    this.#items.push(item);
    const at = { item_id: item.id, output_index: call.index };
    await this.#events.send("response.function_call_arguments.done", { ...at, name: call.name, arguments: call.args });
    await this.#events.send("response.output_item.done", { output_index: call.index, item });
  }

  #itemOf({ id, name, args }: StreamedCall, status: "in_progress" | "completed" | "incomplete"): { id: string } & Record<string, unknown> {
    return callItem(this.#head, { id, name }, { status, args });
  }
}

function placeOf({ id, index }: StreamedMessage): object {
  return { item_id: id, output_index: index, content_index: 0 };
}

/** Whether these are all arguments of a call: a JSON object that is closed. */
function isWhole(args: string): boolean {
  if (!args.trimEnd().endsWith("}")) return false;
  try {
    return isRecord(parseJson(args));
  } catch {
    return false;
  }
}
