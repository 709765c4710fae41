import type { networkInterfaces } from "node:os";
import { addressRanges } from "../auth/address-ranges.ts";

/** Values of `gateway.bind`. */
export type BindMode = "loopback" | "lan" | "tailnet" | "auto" | "custom";

/** Addresses one gateway listens on. */
export interface BindPlan {
  /** Address that must bind. */
  host: string;
  /** Further addresses on the same port; those marked optional may fail. */
  aliases: Array<{ host: string; optional: boolean }>;
  loopbackOnly: boolean;
}

/** Input of a plan besides the mode. */
export interface BindQuestion {
  /** Address for mode `custom`. */
  customBindHost: string | undefined;
  /** As `os.networkInterfaces()` lists them. */
  interfaces: ReturnType<typeof networkInterfaces>;
  /** Can 127.0.0.1 be listened on? Only `auto` asks. */
  loopbackBindable: boolean;
}

const isTailnet = addressRanges(["100.64.0.0/10"]);

/** Addresses of a bind mode. Pure. */
export function planBind(mode: BindMode, question: BindQuestion): BindPlan {
  const loopback: BindPlan = { host: "127.0.0.1", aliases: [{ host: "::1", optional: true }], loopbackOnly: true };
  if (mode === "lan" || (mode === "auto" && !question.loopbackBindable)) return { host: "0.0.0.0", aliases: [], loopbackOnly: false };
  if (mode === "custom") return planAddress(question.customBindHost ?? "127.0.0.1");
  if (mode !== "tailnet") return loopback;
  const address = Object.values(question.interfaces)
    .flatMap((list) => list ?? [])
    .find((a) => a.family === "IPv4" && isTailnet(a.address));
  return address ? planAddress(address.address) : loopback;
}

/** The wildcard already answers on 127.0.0.1; a second listener there would fail. */
function planAddress(host: string): BindPlan {
  if (host === "127.0.0.1") return { host, aliases: [], loopbackOnly: true };
  return { host, aliases: host === "0.0.0.0" ? [] : [{ host: "127.0.0.1", optional: false }], loopbackOnly: false };
}
