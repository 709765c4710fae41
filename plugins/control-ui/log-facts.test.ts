import { describe, expect, test } from "vitest";

const { countLines, isBehind, lineOf, lookOf, MOST_ROWS, partsOf, sentenceOf, subsystemsIn, wanted, withJump, withTail } = await import(
  new URL("./public/core/log-facts.js", import.meta.url).href
);

const raw = (msg: string, more: object = {}) =>
  JSON.stringify({ ts: "2026-11-28T10:00:00.000Z", level: "info", subsystem: "gateway/hooks", msg, pid: 1, ...more });
const tail = (lines: string[], more: object = {}) => ({
  ...{ file: "/s/a.jsonl", cursor: 100, size: 100, truncated: false, reset: false },
  lines,
  ...more,
});
const texts = (rows: Array<{ message?: string; note?: string }>) => rows.map(({ message, note }) => message ?? `(${note})`);
const started = () => withTail(undefined, tail([raw("one"), raw("two")]));

describe("a line", () => {
  test("is read into what a row shows of it", () => {
    expect(lineOf(raw("hello"), 7)).toEqual({
      ...{ id: 7, at: Date.parse("2026-11-28T10:00:00.000Z"), level: "info", subsystem: "gateway/hooks", message: "hello" },
      raw: raw("hello"),
    });
  });

  test("that the gateway did not write is all message", () => {
    for (const text of ["no json", "[1]", "null", '{"level":"loud","ts":"never"}']) {
      expect(lineOf(text, 1), text).toEqual({ id: 1, level: "", subsystem: "", message: text, raw: text });
    }
  });

  test("opens to every field it has, an error to its stack", () => {
    const parts = partsOf(raw("failed", { err: { message: "x", stack: "Error: x\n    at a.ts:1" }, key: { a: 1 } }));
    expect(parts.map(({ name, text, isBlock }: { name: string; text: string; isBlock: boolean }) => [name, text, isBlock])).toEqual([
      ["ts", "2026-11-28T10:00:00.000Z", false],
      ["level", "info", false],
      ["subsystem", "gateway/hooks", false],
      ["msg", "failed", false],
      ["pid", "1", false],
      ["err", "Error: x\n    at a.ts:1", true],
      ["key", '{\n  "a": 1\n}', true],
    ]);
    expect(partsOf("no json")).toEqual([{ name: "line", text: "no json", isBlock: true }]);
  });

  test("has the colour of its level", () => {
    expect(["", "info", "warn", "error", "fatal"].map(lookOf)).toEqual(["", "", "warn", "bad", "bad"]);
  });
});

describe("reading on", () => {
  test("adds what came, under ids that stay", () => {
    const next = withTail(started(), tail([raw("three")], { cursor: 150 }));
    expect(texts(next.rows)).toEqual(["one", "two", "three"]);
    expect([next.cursor, next.nextId, next.rows.map(({ id }: { id: number }) => id)]).toEqual([150, 4, [1, 2, 3]]);
  });

  test("says that the file was put aside, and where the log continues", () => {
    const aside = withTail(started(), tail([raw("new")], { reset: true, cursor: 20 }));
    expect(texts(aside.rows)).toEqual(["one", "two", "(The log file was put aside. These are the newest lines of the next one.)", "new"]);
    const other = withTail(started(), tail([raw("not read")], { file: "/s/b.jsonl" }));
    expect(texts(other.rows).at(-1)).toBe("(The log continues in /s/b.jsonl.)");
    expect([other.file, other.cursor]).toEqual(["/s/b.jsonl", 0]);
  });

  test.each([
    ["the first answer", undefined, { truncated: true }, false],
    ["all there is", started(), {}, false],
    ["more behind the cursor", started(), { truncated: true }, true],
    ["another file", started(), { file: "/s/b.jsonl" }, true],
    ["a file that was put aside", started(), { truncated: true, reset: true }, false],
  ])("goes on at once or not: %s", (_name, before, change, isMore) => {
    expect(isBehind(before, tail([], change))).toBe(isMore);
  });

  test("says how much was skipped where the log grew too fast", () => {
    const jumped = withJump(started(), tail([raw("late")], { cursor: 3_000_100 + raw("late").length + 1 }));
    expect(texts(jumped.rows)).toEqual([
      ...["one", "two"],
      "(Lines were skipped here, about 3.0 MB: the log grows faster than this page reads it.)",
      "late",
    ]);
  });

  test("keeps a bounded number of lines, and of characters", () => {
    const many = withTail(started(), tail(Array.from({ length: MOST_ROWS + 10 }, (_, i) => raw(`line ${i}`))));
    expect([many.rows.length, many.dropped, texts(many.rows).at(-1)]).toEqual([MOST_ROWS, 12, `line ${MOST_ROWS + 9}`]);
    const long = withTail(started(), tail(Array.from({ length: 140 }, () => raw("x".repeat(60_000)))));
    expect(long.rows.length).toBeLessThan(135);
    expect(long.rows[0].message.length).toBe(1_000);
  });
});

describe("a filter", () => {
  const { rows } = withTail(
    undefined,
    tail([
      raw("starts", { level: "debug", subsystem: "gateway/plugin/agents" }),
      raw("accepted", { uid: "abc" }),
      raw("is slow", { level: "warn", subsystem: "gateway/plugin/agents" }),
      "not ours",
    ]),
  );
  const all = { level: "", subsystem: "", q: "" };

  test.each([
    [{}, ["starts", "accepted", "is slow", "not ours"]],
    [{ level: "info" }, ["accepted", "is slow"]],
    [{ level: "error" }, []],
    [{ subsystem: "hooks" }, ["accepted"]],
    [{ subsystem: "plugin" }, ["starts", "is slow"]],
    [{ subsystem: "plug" }, []],
    [{ q: " ABC " }, ["accepted"]],
    [{ level: "warn", subsystem: "plugin/agents", q: "slow" }, ["is slow"]],
  ])("lets through %j", (change, found) => {
    expect(texts(wanted(rows, { ...all, ...change }))).toEqual(found);
  });

  test("never hides what happened to the reader", () => {
    const { rows: noted } = withTail(started(), tail([], { file: "/s/b.jsonl" }));
    expect(texts(wanted(noted, { ...all, q: "nothing" }))).toEqual(["(The log continues in /s/b.jsonl.)"]);
    expect([countLines(noted), countLines(noted, 1)]).toEqual([2, 1]);
  });

  test("offers the parts that there are", () => {
    expect(subsystemsIn(rows)).toEqual(["hooks", "plugin/agents"]);
  });
});

test("a sentence counts what is shown of what there is", () => {
  expect([sentenceOf(1, 1), sentenceOf(12, 5_000)]).toEqual(["1 line", "12 of 5,000 lines"]);
});
