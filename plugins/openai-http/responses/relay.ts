import type { RunHandle } from "svc/sdk";
import { judge } from "../completion.ts";
import { internalProblem, type Problem } from "../error-body.ts";
import type { EventStream } from "../event-stream.ts";
import { StreamedText } from "../relay.ts";
import { type Demand, isMet } from "../tools.ts";
import { Events, ItemEvents } from "./item-events.ts";
import { answeredResponse, failedResponse, incompleteReason, type ResponseHead, responseObject } from "./resource.ts";

export interface ResponseRelayOptions {
  head: ResponseHead;
  demand: Demand | undefined;
  /** The caller has tools. */
  hasTools: boolean;
  /** Makes the response one that a later request can continue; done before its end is told. */
  record(): Promise<void>;
}

/** Sends a run to the client as events of the Responses API, and ends the stream. */
export async function relayResponse(handle: RunHandle, out: EventStream, options: ResponseRelayOptions): Promise<void> {
  const { head, demand } = options;
  const events = new Events(out);
  const items = new ItemEvents(events, head, options);
  const response = responseObject(head, { status: "in_progress" });
  await events.send("response.created", { response });
  await events.send("response.in_progress", { response });
  const text = new StreamedText();
  // With a demand nothing is shown before the call is certain.
  let isHeld = demand !== undefined;
  for await (const { stream, data } of handle.events()) {
    if (stream === "assistant") {
      const added = text.add(data);
      if (added === undefined) return fail(events, head, internalProblem);
      if (!isHeld) await items.addText(added);
    } else if (stream === "toolInput") {
      const call = { id: String(data.toolCallId), name: String(data.name) };
      if (isHeld && demand && isMet(demand, [call])) {
        isHeld = false;
        await items.addText(text.sent);
      }
      if (!isHeld) await items.addArguments(call, String(data.delta));
    }
  }
  const outcome = await handle.done;
  const answer = judge(outcome, demand);
  if (!answer.ok) return fail(events, head, answer.problem);
  if (!answer.text.startsWith(items.text)) return fail(events, head, internalProblem);
  const output = await items.end(answer);
  await options.record();
  const type = incompleteReason(answer) === undefined ? "response.completed" : "response.incomplete";
  await events.send(type, { response: answeredResponse(head, answer, { endedAtMs: outcome.endedAt, output }) });
  events.end();
}

/** Ends the stream of a run that failed; items that are open get no end event, because their content is not complete. */
async function fail(events: Events, head: ResponseHead, problem: Problem): Promise<void> {
  const { type, code, message } = problem;
  await events.send("error", { error: { type, code, message, param: null } });
  await events.send("response.failed", { response: failedResponse(head, problem) });
  events.end();
}
