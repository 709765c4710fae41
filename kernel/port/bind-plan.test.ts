import { expect, test } from "vitest";
import { type BindMode, type BindQuestion, planBind } from "./bind-plan.ts";

const tailnet = {
  tailscale0: [
    { family: "IPv6", address: "fd7a::1" },
    { family: "IPv4", address: "100.101.102.103" },
  ],
};
const question = (change: Partial<BindQuestion> = {}): BindQuestion => ({
  customBindHost: undefined,
  interfaces: {},
  loopbackBindable: true,
  ...change,
});
const loopback = { host: "127.0.0.1", aliases: [{ host: "::1", optional: true }], loopbackOnly: true };
const alone = (host: string) => ({ host, aliases: [], loopbackOnly: host === "127.0.0.1" });
const beside = (host: string) => ({ host, aliases: [{ host: "127.0.0.1", optional: false }], loopbackOnly: false });

test.each<[string, BindMode, Partial<BindQuestion>, object]>([
  ["loopback", "loopback", {}, loopback],
  ["lan is every address", "lan", {}, alone("0.0.0.0")],
  ["tailnet is the first address there, and loopback", "tailnet", { interfaces: tailnet as never }, beside("100.101.102.103")],
  [
    "tailnet without one is loopback",
    "tailnet",
    { interfaces: { eth0: [{ family: "IPv4", address: "100.63.255.255" }] } as never },
    loopback,
  ],
  ["auto is loopback", "auto", {}, loopback],
  ["auto where loopback cannot be bound is every address", "auto", { loopbackBindable: false }, alone("0.0.0.0")],
  ["custom is that address, and loopback", "custom", { customBindHost: "10.0.0.7" }, beside("10.0.0.7")],
  ["custom on the wildcard opens no second listener", "custom", { customBindHost: "0.0.0.0" }, alone("0.0.0.0")],
  ["custom on loopback is that alone", "custom", { customBindHost: "127.0.0.1" }, alone("127.0.0.1")],
])("%s", (_, mode, change, plan) => {
  expect(planBind(mode, question(change))).toEqual(plan);
});
