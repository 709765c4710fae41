import { expect, test } from "vitest";
import { MAX_FOLLOWED, Subscriptions } from "./subscriptions.ts";

test("a connection follows so many sessions and no more, until it lets one go; others are not in its way", () => {
  const subscriptions = new Subscriptions();
  for (let i = 0; i < MAX_FOLLOWED; i++) subscriptions.add("a", `agent:main:${i}`);
  const refusal = expect.objectContaining({
    code: "too-many-followed",
    details: expect.objectContaining({ code: "TOO_MANY_SUBSCRIPTIONS" }),
  });
  expect(() => subscriptions.add("a", "agent:main:more")).toThrow(refusal);
  subscriptions.add("a", "agent:main:0");
  subscriptions.add("b", "agent:main:more");
  subscriptions.remove("a", "agent:main:0");
  subscriptions.add("a", "agent:main:more");
});
