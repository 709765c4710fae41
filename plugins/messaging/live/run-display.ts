import { type DeliveryRow, messageOf, type PluginContext, type RunEvent, type RunHandle } from "svc/sdk";
import type { Inbound } from "../inbound/stored.ts";
import type { GrowingAnswers } from "./answers.ts";
import type { TypingIndicators, TypingPlace } from "./typing.ts";

/** The part of a run that shows itself to the people it answers. */
export interface RunDisplay {
  /** The answer is in the queue, or it is known that there is none: a preview that nothing takes the place of is removed. */
  settle(): Promise<void>;
  /** The run is over. Resolves when nothing shows it as being at work; never rejects. */
  ran(): Promise<void>;
  /** The message has ended, or this instance does; never rejects. */
  close(): Promise<void>;
}

export interface RunDisplayDeps {
  ctx: Pick<PluginContext, "logger">;
  typing: TypingIndicators;
  answers: GrowingAnswers;
}

/** Shows a run in the conversation that it answers, from the start of the model loop to its end. */
export function displayRun(
  { row, inbound, handle }: { row: DeliveryRow; inbound: Inbound; handle: RunHandle },
  { ctx, typing, answers }: RunDisplayDeps,
): RunDisplay {
  const { channel, accountId, to } = inbound.route;
  const place: TypingPlace = { channel, accountId, to };
  const isTyped = inbound.room === undefined || inbound.isMentioned === true;
  const answer = handle.state === "finished" ? undefined : answers.begin(row, inbound);
  let isOver = false;
  let stopTyping: (() => Promise<void>) | undefined;
  let ended: Promise<void> | undefined;

  const take = ({ stream, data }: RunEvent) => {
    if (stream === "lifecycle" && data.phase === "start" && isTyped) stopTyping ??= typing.show(place);
    if (stream === "assistant" && typeof data.text === "string") answer?.write(data.text, data.itemId);
  };
  const read = async () => {
    for await (const event of handle.events()) {
      if (isOver) return;
      take(event);
    }
  };
  if (handle.state !== "finished")
    read().catch((error: unknown) => ctx.logger.debug(`run ${row.uid}: its events cannot be read`, { error: messageOf(error) }));

  const finish = async () => {
    isOver = true;
    if (stopTyping) await stopTyping();
    // The process that had begun it was killed, and may have left it.
    else if (isTyped && row.result !== undefined) await typing.clear(place);
  };
  const ran = () => {
    ended ??= finish();
    return ended;
  };
  return {
    ran,
    settle: () =>
      answers.discard(row, inbound).catch((error: unknown) => {
        ctx.logger.debug(`run ${row.uid}: its preview was not looked for`, { error: messageOf(error) });
      }),
    close() {
      answers.end(row);
      return ran();
    },
  };
}
