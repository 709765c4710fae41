import { expect, test } from "vitest";
import { stopServiceOf, unitIn } from "./service-of.ts";

test("the unit of a process is the last one of svc in its control group", () => {
  const rows: Array<[string, object | undefined]> = [
    ["0::/user.slice/user-1000.slice/user@1000.service/app.slice/svc-gateway.service\n", { name: "svc-gateway.service", isOfUser: true }],
    ["0::/system.slice/svc-gateway-work.service\n", { name: "svc-gateway-work.service", isOfUser: false }],
    ["12:cpu:/x\n1:name=systemd:/system.slice/svc-gateway.service/child\n", { name: "svc-gateway.service", isOfUser: false }],
    ["0::/user.slice/user-1000.slice/session-2.scope\n", undefined],
    ["0::/system.slice/not-svc-gateway.service\n", undefined],
    ["", undefined],
  ];
  for (const [cgroup, unit] of rows) expect(unitIn(cgroup)).toEqual(unit);
});

test("a process of no service is left to signals", async () => {
  expect(await stopServiceOf(process.pid)).toBeUndefined();
});
