import type { DeliveryRow, Store } from "svc/sdk";
import { type About, aboutOf, readAbout } from "./about.ts";
import type { DeliverySummary } from "./deliveries.ts";
import { decodeAction } from "./stored-action.ts";

/** Summarises a hook's row for operators. @param row as listed, without its payload */
export function summariseDelivery(row: DeliveryRow, store: Pick<Store, "deliveries">): DeliverySummary {
  const about = readAbout(row.result) ?? aboutOfPayload(row, store);
  const { uid, state, attempt, lane, createdAt, updatedAt, expiresAt, notBefore, steps, result } = row;
  return {
    uid,
    kind: row.dir === "hook-wake" ? "wake" : "agent",
    state,
    attempt,
    ...about,
    lane,
    createdAt,
    updatedAt,
    expiresAt,
    ...(notBefore === undefined ? {} : { notBefore }),
    steps,
    ...(result === undefined ? {} : { result }),
  };
}

/** A row that cannot be read has no path any more; its lane still names the agent. */
function aboutOfPayload(row: DeliveryRow, store: Pick<Store, "deliveries">): About {
  const whole = row.payload ? row : store.deliveries.get(row.uid);
  const action = whole && decodeAction(whole);
  return action ? aboutOf(action) : { path: "", agentId: /^agent:([^:]+):/.exec(row.lane)?.[1] ?? "" };
}
