import type { PresenceBeacon } from "../../sdk/types/gateway.ts";

/** Longest text that is shown to everybody. */
const MAX_TEXT_CHARS = 512;

/**
 * Reads the facts a beacon states about its sender: its fields, and those in its text in the form
 * `Node: <host> (<ip>) · app <version> · last input <n>s ago · mode <mode> · reason <reason>`. Named fields win. Pure.
 */
export function readBeacon(beacon: PresenceBeacon): PresenceBeacon {
  const text = beacon.text.slice(0, MAX_TEXT_CHARS);
  return { ...parseBeaconText(text), ...beacon, text };
}

/** Owner of the row that it renews: a device, an instance, a machine; a text that says none of these stands for itself. */
export function beaconKey({ deviceId, instanceId, host, ip, text }: PresenceBeacon): string {
  return presenceKey(deviceId ?? instanceId ?? host ?? ip ?? text.trim());
}

/** Keys are compared without regard to case. */
export function presenceKey(id: string): string {
  return id.toLowerCase();
}

/** The fields of a beacon text; parts may be missing. A text of another form gives none. */
export function parseBeaconText(text: string): Partial<PresenceBeacon> {
  if (!text.startsWith("Node:")) return {};
  const [place = "", ...rest] = text.slice("Node:".length).split("·");
  const named = /^([^()]*)(?:\(([^()]*)\))?$/.exec(place.trim());
  const parts = rest.map((part) => part.trim());
  const after = (word: string) =>
    parts
      .find((part) => part.startsWith(`${word} `))
      ?.slice(word.length + 1)
      .trim();
  const idleSeconds = /^(\d+(?:\.\d+)?)s ago$/.exec(after("last input") ?? "")?.[1];
  return filled({
    host: named?.[1]?.trim(),
    ip: named?.[2]?.trim(),
    version: after("app"),
    lastInputSeconds: idleSeconds === undefined ? undefined : Number(idleSeconds),
    mode: after("mode"),
    reason: after("reason"),
  });
}

function filled<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
