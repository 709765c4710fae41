import { commonErrors, type LogTail } from "svc/sdk";
import { expect, test } from "vitest";
import { followLog } from "./logs-follow.ts";
import { isLost } from "./logs-source.ts";

const tail = (change: Partial<LogTail>): LogTail => ({
  file: "a",
  cursor: 0,
  size: 0,
  lines: [],
  truncated: false,
  reset: false,
  ...change,
});

/** Follows a log whose readings go like this, to the last of them; tells what was asked and what was shown. */
async function follow(first: LogTail, readings: Array<LogTail | Error>) {
  const over = new AbortController();
  const never = new Promise<LogTail>((_, reject) => over.signal.addEventListener("abort", () => reject(new Error("over"))));
  never.catch(() => undefined);
  const asked: unknown[] = [];
  const shown: unknown[] = [];
  const source = {
    async read(question: { cursor?: number }) {
      const next = readings.shift();
      if (!next) return never;
      asked.push(question.cursor);
      if (readings.length === 0) setImmediate(() => over.abort());
      if (next instanceof Error) throw next;
      return next;
    },
    close: async () => undefined,
  };
  const output = {
    lines: ({ lines }: LogTail, isNew: boolean) => void shown.push(...(isNew ? ["meta"] : []), ...lines),
    notice: (message: string) => void shown.push(message),
  };
  await followLog(source, { first, intervalMs: 1, signal: over.signal, output });
  return { asked, shown };
}

test("each reading goes on where the last one ended", async () => {
  const { asked, shown } = await follow(tail({ cursor: 5 }), [
    tail({ cursor: 9, lines: ["one"] }),
    tail({ cursor: 9 }),
    tail({ cursor: 12, lines: ["two"] }),
  ]);
  expect(asked).toEqual([5, 9, 9]);
  expect(shown).toEqual(["one", "two"]);
});

test("the file of the next day is read from its beginning", async () => {
  const { asked, shown } = await follow(tail({ cursor: 50 }), [
    tail({ file: "b", cursor: 60, lines: ["late"] }),
    tail({ file: "b", cursor: 60, lines: ["early", "late"] }),
  ]);
  expect(asked).toEqual([50, 0]);
  expect(shown).toEqual(["the log continues in b", "early", "late"]);
});

test("a file that was put aside is told, and its successor shown", async () => {
  const { asked, shown } = await follow(tail({ cursor: 50 }), [tail({ cursor: 4, lines: ["new"], reset: true }), tail({ cursor: 4 })]);
  expect(asked).toEqual([50, 4]);
  expect(shown).toEqual([expect.stringContaining("put aside"), "meta", "new"]);
});

test("a gateway elsewhere that is gone is told of, with the time of the next look", async () => {
  const gone = commonErrors.gatewayUnreachable({ url: "ws://x", reason: "refused", advice: "start it" });
  const { shown } = await follow(tail({ cursor: 5 }), [gone]);
  expect(shown).toEqual([expect.stringContaining("trying again in 1 s")]);
});

test("what the gateway refuses ends it", async () => {
  const refused = commonErrors.clientUnauthorized({ message: "no" });
  await expect(follow(tail({}), [refused, tail({})])).rejects.toBe(refused);
});

test.each<[string, unknown, boolean]>([
  ["nobody listens", commonErrors.gatewayUnreachable({ url: "ws://x", reason: "refused", advice: "start it" }), true],
  ["it went away", Object.assign(new Error("closed"), { code: "connection-closed" }), true],
  ["it does not answer", Object.assign(new Error("slow"), { code: "request-timed-out" }), true],
  [
    "it starts",
    commonErrors.clientUnauthorized({ message: "starting" }, { cause: Object.assign(new Error("starting"), { code: "UNAVAILABLE" }) }),
    true,
  ],
  [
    "it refuses the token",
    commonErrors.clientUnauthorized({ message: "no" }, { cause: Object.assign(new Error("no"), { code: "INVALID_REQUEST" }) }),
    false,
  ],
  ["it refuses the scope", Object.assign(new Error("no"), { code: "FORBIDDEN" }), false],
])("when %s it counts as gone, or not", (_name, error, gone) => {
  expect(isLost(error)).toBe(gone);
});
