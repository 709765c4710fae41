import { expect, test } from "vitest";
import { createPendingRequests, MAX_PENDING } from "./pending-requests.ts";

test("requests beyond the limit are refused, but never the news of who embeds, nor the end", async () => {
  const pending = createPendingRequests();
  const sent: number[] = [];
  const options = { timeoutMs: 60_000 };
  const track = (method: "search" | "provider" | "close") => pending.track(method, options, (id) => sent.push(id)).catch((error) => error);
  const waiting = Array.from({ length: MAX_PENDING }, () => track("search"));

  expect(await track("search")).toMatchObject({ code: "memory-busy" });
  waiting.push(track("provider"), track("close"));

  expect(sent).toHaveLength(MAX_PENDING + 2);
  pending.rejectAll(new Error("the end"));
  await Promise.all(waiting);
});
