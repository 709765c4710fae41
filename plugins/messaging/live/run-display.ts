import { type DeliveryRow, messageOf, type PluginContext, type RunEvent, type RunHandle } from "svc/sdk";
import type { Inbound } from "../inbound/stored.ts";
import type { TypingIndicators, TypingPlace } from "./typing.ts";

/** The part of a run that shows itself to the people it answers. */
export interface RunDisplay {
  /** The run is over, however it ended. Resolves when nothing of it is shown any more; never rejects. */
  end(): Promise<void>;
}

export interface RunDisplayDeps {
  ctx: Pick<PluginContext, "logger">;
  typing: TypingIndicators;
}

/** Shows a run in the conversation that it answers, from the start of the model loop to its end. */
export function displayRun(
  { row, inbound, handle }: { row: DeliveryRow; inbound: Inbound; handle: RunHandle },
  { ctx, typing }: RunDisplayDeps,
): RunDisplay {
  const { channel, accountId, to } = inbound.route;
  const place: TypingPlace = { channel, accountId, to };
  const isTyped = inbound.room === undefined || inbound.isMentioned === true;
  let isOver = false;
  let stopTyping: (() => Promise<void>) | undefined;
  let ended: Promise<void> | undefined;

  const take = ({ stream, data }: RunEvent) => {
    if (stream === "lifecycle" && data.phase === "start" && isTyped) stopTyping ??= typing.show(place);
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
  return {
    end() {
      ended ??= finish();
      return ended;
    },
  };
}
