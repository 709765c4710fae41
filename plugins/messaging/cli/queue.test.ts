import { expect, test } from "vitest";
import { describeMessage } from "./queue.ts";

const message = {
  ...{ uid: "u1", id: 1, lane: "irc:default:#room", state: "failed" as const, attempt: 3 },
  ...{ createdAt: new Date(2026, 2, 1, 12, 3).getTime(), updatedAt: 0, expiresAt: 0 },
};

test("a message is one line: state, recipient, id, tries, time, reason", () => {
  expect(describeMessage({ ...message, reason: "not a member" })).toBe(
    "failed     irc:default:#room  u1  3 tries  2026-03-01 12:03  not a member",
  );
  expect(describeMessage({ ...message, state: "uncertain", attempt: 1 })).toBe("uncertain  irc:default:#room  u1  1 try  2026-03-01 12:03");
});
