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

const login = z.object({
  loginId: z.string(),
  channel: z.string(),
  accountId: z.string(),
  step: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("qr"), text: z.string() }),
    z.object({ kind: z.literal("url"), url: z.string() }),
    z.object({ kind: z.literal("code"), code: z.string() }),
  ]),
});

/** Events about people who want to write to an account, and about sign-ins. */
export const messagingEvents = {
  "channels.login": {
    scope: "admin",
    droppable: false,
    about:
      "a step of a sign-in that this connection has begun: a QR code to scan, an address to open, a code to enter; a later one takes its place",
    payload: login,
  },
  "messaging.pairing.requested": { ...notice, about: "somebody on a channel waits to be let in", payload: pairingRequest },
  "messaging.pairing.resolved": {
    ...notice,
    about: "a request on a channel was approved or rejected, or an approval was taken back",
    payload: resolved,
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
