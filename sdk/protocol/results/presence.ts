import { z } from "zod";
import { epochMs, scopes } from "./fields.ts";

const text = z.string();

/** Entry of the presence list: the gateway itself, a connection, or a machine that sends beacons. */
export const presenceEntry = z
  .object({
    ts: epochMs,
    host: text.exactOptional(),
    ip: text.exactOptional().describe("left out for loopback"),
    version: text.exactOptional(),
    platform: text.exactOptional(),
    deviceFamily: text.exactOptional(),
    modelIdentifier: text.exactOptional(),
    timeZone: text.exactOptional(),
    mode: text.exactOptional(),
    clientId: text.exactOptional(),
    lastInputSeconds: z.number().min(0).exactOptional(),
    reason: text.exactOptional().describe("the gateway says `self`, `connect`, `disconnect`"),
    tags: z.array(text).exactOptional(),
    text: text.exactOptional(),
    deviceId: text.exactOptional(),
    roles: z.array(text).exactOptional(),
    scopes: scopes.exactOptional(),
    instanceId: text.exactOptional(),
  })
  .meta({ id: "PresenceEntry" });

/** Counters by which a client knows that it has missed a change. */
export const stateVersion = z.object({ presence: z.number().int().min(0), health: z.number().int().min(0) }).meta({ id: "StateVersion" });
