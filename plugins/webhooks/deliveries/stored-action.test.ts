import { expect, test } from "vitest";
import { agentAction } from "../../../test/fixtures/hook-deliveries.ts";
import { decodeAction, encodeAction, MAX_PAYLOAD_BYTES } from "./stored-action.ts";

test("an action is stored without its fingerprint and read back as it was", () => {
  const { fingerprint: _, ...action } = agentAction({ model: "x/y", to: "#room", timeoutMs: 5_000, thinking: "low", mapping: "gh" });
  const payload = encodeAction({ ...action, fingerprint: "f" });
  expect(payload).toEqual({ v: 1, action });
  expect(decodeAction({ payload: JSON.parse(JSON.stringify(payload)) })).toEqual(action);
});

test.each([undefined, {}, { v: 2, action: {} }, { v: 1, action: { kind: "agent" } }])("%j is no action that can be read", (payload) => {
  expect(decodeAction(payload === undefined ? {} : { payload })).toBeUndefined();
});

test("256 KiB of JSON are taken, one byte more is refused with 413", () => {
  const action = agentAction({ message: "" });
  const room = MAX_PAYLOAD_BYTES - Buffer.byteLength(JSON.stringify(encodeAction(action)));
  expect(() => encodeAction({ ...action, message: "x".repeat(room) })).not.toThrow();
  expect(() => encodeAction({ ...action, message: "ä".repeat(room / 2 + 1) })).toThrow(
    expect.objectContaining({ code: "hook-action-too-large", spec: expect.objectContaining({ http: 413 }) }),
  );
});
