import { type PluginProtocol, z } from "svc/sdk";
import { pairingRequest } from "./protocol-results.ts";

const resolved = z.object({
  channel: z.string(),
  accountId: z.string(),
  senderId: z.string(),
  decision: z.enum(["approved", "rejected", "revoked"]),
  ts: z.number().int().min(0),
});

const notice = { scope: "pairing", droppable: true } as const;

/** Events about people who want to write to an account. */
export const messagingEvents = {
  "messaging.pairing.requested": { ...notice, about: "somebody on a channel waits to be let in", payload: pairingRequest },
  "messaging.pairing.resolved": {
    ...notice,
    about: "a request on a channel was approved or rejected, or an approval was taken back",
    payload: resolved,
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
