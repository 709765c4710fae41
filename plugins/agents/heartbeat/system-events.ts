import type { SystemEventRequest } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import type { Heartbeats } from "./heartbeats.ts";

/**
 * Makes an event durable, and asks for a heartbeat when it should be read at once.
 * @throws {SvcError} `text-required`, `session-needs-now`, `unknown-agent`, `invalid-session-key`, `system-events-full`, `storage-*`
 */
export async function enqueueSystemEvent(
  kit: Kit,
  heartbeats: Pick<Heartbeats, "wake">,
  request: SystemEventRequest,
): Promise<"queued" | "coalesced"> {
  const text = request.text.trim();
  if (text === "") throw agentErrors.textRequired();
  // A session that is not the agent's own has no heartbeat that would come round to it.
  if (request.mode === "next-heartbeat" && request.sessionKey !== undefined) throw agentErrors.sessionNeedsNow();
  const { agentId, sessionKey } = kit.directory.resolve(request);
  const { source, same, mode } = request;
  const wake = mode === "now";
  const event = { sessionKey, text, ...(same === undefined ? {} : { same }), source, ts: kit.ctx.clock.now(), wake };
  const [result] = await kit.store().commit([{ op: "systemEvent.add", event }]);
  kit.ctx.service("gateway@1").invalidateHealth();
  if (wake) {
    const named = request.sessionKey === undefined ? undefined : sessionKey;
    heartbeats.wake({ agentId, sessionKey: named, reason: source, isOwn: request.isOwn ?? false });
  }
  return result?.coalesced ? "coalesced" : "queued";
}
