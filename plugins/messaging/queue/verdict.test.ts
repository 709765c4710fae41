import fc from "fast-check";
import { NotDispatchedError, SendRefusedError } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { judge, MAX_ATTEMPTS, retryDelayMs, toFault } from "./verdict.ts";

const plain = { attempt: 1, unknown: 0, isIdempotent: false };

describe("the wait before the next try", () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [5, 16_000],
    [9, 256_000],
    [10, 300_000],
    [12, 300_000],
  ])("after try %i is at most %i ms", (attempt, most) => {
    expect(retryDelayMs(attempt, 0.999_999_9)).toBe(most);
    expect(retryDelayMs(attempt, 0)).toBe(0);
  });

  test("is raised by what the platform asks for, and never shortened", () => {
    const asked = (retryAfterMs: number) => toFault(new SendRefusedError("slow down", { isPermanent: false, retryAfterMs }));
    expect(judge(asked(90_000), plain, 0.5)).toMatchObject({ next: "again", to: "accepted", waitMs: 90_000 });
    expect(judge(asked(1), plain, 0.5)).toMatchObject({ waitMs: 500 });
  });
});

describe("after a try that failed", () => {
  test("nothing is tried again that the platform will never take", () => {
    const fault = toFault(new SendRefusedError("blocked by the user", { isPermanent: true }));
    expect(judge(fault, plain, 0)).toEqual({ next: "failed", reason: "blocked by the user", what: "the channel refused it" });
  });

  test("what did not leave the process is an ordinary try, also where a repeat would show twice", () => {
    const fault = toFault(new NotDispatchedError("no link"));
    expect(judge(fault, { ...plain, attempt: 11 }, 0)).toMatchObject({ next: "again", to: "accepted", unknown: 0 });
  });

  test("an error that does not say whether the platform has it is uncertain, dared once more, and then given up", () => {
    const fault = toFault(new Error("socket hang up"));
    expect(judge(fault, plain, 0)).toMatchObject({ next: "again", to: "uncertain", unknown: 1 });
    expect(judge(fault, { ...plain, attempt: 2, unknown: 1 }, 0)).toEqual({
      next: "failed",
      reason: "whether the platform accepted it is unknown after two attempts; it is not sent a third time: socket hang up",
      what: "whether the platform accepted it is unknown after two attempts; it is not sent a third time",
    });
  });

  test("an uncertain message stays uncertain while later tries do not get there", () => {
    const fault = toFault(new NotDispatchedError("no link"));
    expect(judge(fault, { ...plain, attempt: 2, unknown: 1 }, 0)).toMatchObject({ next: "again", to: "uncertain", unknown: 1 });
  });

  test("a platform that knows a repeat is asked as often as any other", () => {
    const fault = toFault(new Error("socket hang up"));
    const tried = { attempt: MAX_ATTEMPTS - 1, unknown: 9, isIdempotent: true };
    expect(judge(fault, tried, 0)).toMatchObject({ next: "again", to: "uncertain", unknown: 10 });
    expect(judge(fault, { ...tried, attempt: MAX_ATTEMPTS }, 0)).toEqual({
      next: "failed",
      reason: "gave up after 12 tries: socket hang up",
      what: "gave up after 12 tries",
    });
  });

  test("whatever happened, it ends after twelve tries, and the wait is finite", () => {
    const fault = fc.record({ taken: fc.constantFrom("no" as const, "unknown" as const), isPermanent: fc.boolean(), reason: fc.string() });
    fc.assert(
      fc.property(
        fault,
        fc.nat(20),
        fc.nat(5),
        fc.boolean(),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (f, attempt, unknown, isIdempotent, random) => {
          const verdict = judge(f, { attempt: attempt + 1, unknown, isIdempotent }, random);
          if (attempt + 1 >= MAX_ATTEMPTS) expect(verdict.next).toBe("failed");
          if (verdict.next === "again") expect(verdict.waitMs).toBeLessThanOrEqual(300_000);
        },
      ),
    );
  });

  test("the reason is one line of bounded length", () => {
    expect(toFault(new Error(`a\n\tb ${"x".repeat(500)}`)).reason).toMatch(/^a b x{1,}…$/);
    expect(toFault(new Error("x".repeat(500))).reason).toHaveLength(300);
    expect(toFault(new Error("")).reason).toBe("no reason was given");
  });
});
