import { once } from "node:events";
import { expect, test } from "vitest";
import { createDeviceConnections } from "./device-connections.ts";

test("the end of one role leaves the other and other devices connected, and says why", async () => {
  const connections = createDeviceConnections();
  const [operator, node] = [connections.standing("d", "operator"), connections.standing("d", "node")];
  const other = connections.standing("e", "operator");
  const ended = once(operator, "abort");

  connections.end("d", "device token revoked", "operator");

  expect(operator.aborted).toBe(false); // its own answer leaves first
  await ended;
  expect(operator.reason).toMatchObject({
    code: "unauthorized",
    fields: { reason: "device token revoked" },
    details: { code: "AUTH_CHANGED" },
  });
  expect([node.aborted, other.aborted]).toEqual([false, false]);
});

test("the end of a device ends both roles; one that connects again may stay", async () => {
  const connections = createDeviceConnections();
  const [operator, node] = [connections.standing("d", "operator"), connections.standing("d", "node")];
  const ended = [once(operator, "abort"), once(node, "abort")];

  connections.end("d", "device removed");
  const again = connections.standing("d", "operator");
  await Promise.all(ended);

  expect(node.reason).toMatchObject({ fields: { reason: "device removed" } });
  expect(again.aborted).toBe(false);
});
