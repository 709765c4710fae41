import { expect, test } from "vitest";
import { Cancels } from "./cancels.ts";

const cancelling = (requestId: unknown) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

test("a call is cancelled by its caller and id, while it is in progress", () => {
  const cancels = new Cancels();
  const [first, second] = [cancels.add("ann", 1), cancels.add("ann", 2)];
  cancels.take("bob", cancelling(1));
  cancels.take("ann", cancelling("1"));
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
  cancels.take("ann", [cancelling(2)]);
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
  first.dispose();
  cancels.take("ann", cancelling(1));
  expect(first.signal.aborted).toBe(false);
});

test("two calls of the same caller and id are not told apart, and so neither is cancelled", () => {
  const cancels = new Cancels();
  const [one, other] = [cancels.add("ann", 1), cancels.add("ann", 1)];
  cancels.take("ann", cancelling(1));
  expect([one.signal.aborted, other.signal.aborted]).toEqual([false, false]);
  other.dispose();
  cancels.take("ann", cancelling(1));
  expect(one.signal.aborted).toBe(true);
});

test.each([[null], ["x"], [[]], [{}], [{ method: "notifications/cancelled" }], [cancelling({})], [cancelling(null)]])(
  "%j cancels nothing",
  (body) => {
    const cancels = new Cancels();
    const call = cancels.add("ann", 1);
    cancels.take("ann", body);
    expect(call.signal.aborted).toBe(false);
  },
);

test("beyond a thousand, calls are not listed, and are run all the same", () => {
  const cancels = new Cancels();
  const calls = Array.from({ length: 1_001 }, (_, id) => cancels.add("ann", id));
  cancels.take("ann", cancelling(1_000));
  cancels.take("ann", cancelling(999));
  expect([calls[1_000]?.signal.aborted, calls[999]?.signal.aborted]).toEqual([false, true]);
});
