import { mainSessionKey, type StoreOp } from "svc/sdk";
import { laneOf, lifetimeMs, type Outgoing, toStored } from "../queue/message.ts";
import type { PairingAccount, PairingRequest } from "./pairings.ts";

/** Text for a stranger: once, and with everything they need to be let in. */
export function pairingText({ channel }: PairingAccount, { code }: Pick<PairingRequest, "code">): string {
  return [
    "This account answers only people that its operator knows.",
    `Your pairing code: ${code} (valid for one hour)`,
    `Ask the operator to run: svc pairing approve ${channel} ${code}`,
  ].join("\n");
}

export const APPROVED_TEXT = "You are paired now: write to me.";

/** A message of the gateway itself, as a row of the queue. Nobody waits for it, and a failure of it is no news for any session: it goes to a stranger. */
export function noticeOps(
  text: string,
  { account, to, uid, agentId, at }: { account: PairingAccount; to: string; uid: string; agentId: string; at: number },
): StoreOp[] {
  const { channel, accountId } = account;
  const message: Outgoing = {
    uid,
    route: { channel, accountId, to },
    text,
    origin: "chat",
    sessionKey: mainSessionKey(agentId),
    agentId,
    isNotice: true,
  };
  const delivery = {
    uid,
    dir: "out" as const,
    lane: laneOf(message.route, ""),
    payload: toStored(message),
    expiresAt: at + lifetimeMs("chat"),
  };
  return [{ op: "delivery.accept", delivery, at }];
}
