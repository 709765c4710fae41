import type { DeliveryRow, DeliveryState, JsonObject, Store } from "svc/sdk";
import { type About, aboutOf, decodeAction, readAbout } from "./stored-action.ts";

/** Summary of a row for operators; never includes the payload's text unless `show` asks for it. */
export interface DeliverySummary {
  uid: string;
  kind: "agent" | "wake";
  state: DeliveryState;
  attempt: number;
  path: string;
  mapping?: string;
  name?: string;
  agentId: string;
  lane: string;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  notBefore?: number;
  steps: DeliveryRow["steps"];
  result?: JsonObject;
}

/** Summarises a hook's row for operators. @param row as listed, without its payload */
export async function summariseDelivery(row: DeliveryRow, store: Pick<Store, "deliveries">): Promise<DeliverySummary> {
  const about = readAbout(row.result) ?? (await aboutOfPayload(row, store));
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

/** Summarises rows one after the other: one payload at a time is in memory. */
export async function summariseDeliveries(rows: readonly DeliveryRow[], store: Pick<Store, "deliveries">): Promise<DeliverySummary[]> {
  const summaries: DeliverySummary[] = [];
  for (const row of rows) summaries.push(await summariseDelivery(row, store));
  return summaries;
}

/** A row that cannot be read has no path any more; its lane still names the agent. */
async function aboutOfPayload(row: DeliveryRow, store: Pick<Store, "deliveries">): Promise<About> {
  const whole = row.payload ? row : await store.deliveries.get(row.uid);
  const action = whole && decodeAction(whole);
  return action ? aboutOf(action) : { path: "", agentId: /^agent:([^:]+):/.exec(row.lane)?.[1] ?? "" };
}
