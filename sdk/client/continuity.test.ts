import { describe, expect, it } from "vitest";
import { createContinuity } from "./continuity.ts";

const event = (seq: number | undefined, name = "tick", stateVersion?: { presence: number; health: number }) => ({
  type: "event" as const,
  event: name,
  ...(seq === undefined ? {} : { seq }),
  ...(stateVersion ? { stateVersion } : {}),
});

describe("continuity", () => {
  it("sees no gap in 1, 2, 3 and in events without a number", () => {
    const c = createContinuity();
    c.connected("b", { presence: 0, health: 0 });
    expect([1, 2, undefined, 3].map((n) => c.accept(event(n)).gap)).toEqual([false, false, false, false]);
  });

  it("sees a gap when the first event is not 1, and only once per loss", () => {
    const c = createContinuity();
    c.connected("b", { presence: 0, health: 0 });
    expect([2, 3, 7, 8].map((n) => c.accept(event(n)).gap)).toEqual([true, false, true, false]);
  });

  it("starts at 1 again with each connection", () => {
    const c = createContinuity();
    c.connected("b", { presence: 0, health: 0 });
    c.accept(event(1));
    c.accept(event(2));
    c.connected("b", { presence: 0, health: 0 });
    expect(c.accept(event(1)).gap).toBe(false);
  });

  it("calls a lower state version of the same process stale, each part for itself", () => {
    const c = createContinuity();
    c.connected("b", { presence: 5, health: 5 });
    expect(c.accept(event(1, "health", { presence: 5, health: 4 })).stale).toBe(true);
    expect(c.accept(event(2, "health", { presence: 4, health: 6 })).stale).toBe(false);
    expect(c.accept(event(3, "presence", { presence: 4, health: 7 })).stale).toBe(true);
    expect(c.accept(event(4, "presence", { presence: 5, health: 1 })).stale).toBe(false);
    expect(c.accept(event(5, "tick", { presence: 0, health: 0 })).stale).toBe(false);
  });

  it("keeps versions over a reconnect to the same process and forgets them with a new one", () => {
    const c = createContinuity();
    c.connected("b", { presence: 9, health: 9 });
    c.connected("b", { presence: 1, health: 1 });
    expect(c.accept(event(1, "health", { presence: 9, health: 8 })).stale).toBe(true);
    c.connected("other", { presence: 1, health: 1 });
    expect(c.accept(event(1, "health", { presence: 1, health: 2 })).stale).toBe(false);
  });
});
