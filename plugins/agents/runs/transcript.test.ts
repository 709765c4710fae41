import type { MessageBlock, MessageRow, ModelMessage } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { missingTurns } from "./given-history.ts";
import { fitMessages, fromFirstUser, orderByRun, toModelMessages } from "./transcript.ts";

let seq = 0;

function row(role: MessageRow["role"], text: string, more: Partial<MessageRow> = {}): MessageRow {
  seq += 1;
  return { id: `m${seq}`, seq, sessionId: "s", ts: seq, role, content: text === "" ? [] : [{ type: "text", text }], ...more };
}

function calling(id: string, runId: string, text = ""): MessageRow {
  const call: MessageBlock = { type: "toolCall", id, name: "find", arguments: { q: id } };
  return { ...row("assistant", text, { runId }), content: [...(text === "" ? [] : [{ type: "text" as const, text }]), call] };
}

function result(id: string, runId: string, text: string): MessageRow {
  return row("toolResult", text, { runId, toolCallId: id, toolName: "find" });
}

function toolOf(toolCallId: string) {
  return { role: "tool", toolCallId, name: "find" };
}

function texts(rows: readonly MessageRow[]): string {
  return rows.map((r) => (r.content[0]?.type === "text" ? r.content[0].text : r.role)).join(" ");
}

const own = (runId: string) => runId;

describe("order", () => {
  test("a message that waited stands behind the answer it waited for", () => {
    const rows = [row("user", "u1", { runId: "1" }), row("user", "u2", { runId: "2" }), row("assistant", "a1", { runId: "1" })];
    expect(texts(orderByRun(rows, "2", own))).toBe("u1 a1 u2");
  });

  test("messages that still wait are left out of the run before them", () => {
    const rows = [row("user", "u1", { runId: "1" }), row("user", "u2", { runId: "2" }), row("user", "u3", { runId: "3" })];
    expect(texts(orderByRun(rows, "1", (id) => (id === "1" ? id : undefined)))).toBe("u1");
  });

  test("rows of a run that joined another stand in that turn, in the order of the transcript", () => {
    const rows = [
      row("user", "u1", { runId: "1" }),
      row("user", "u2", { runId: "2" }),
      row("assistant", "a1", { runId: "1" }),
      row("user", "u3", { runId: "3" }),
      row("assistant", "a2", { runId: "2" }),
    ];
    expect(texts(orderByRun(rows, "2", (id) => (id === "3" ? "1" : id)))).toBe("u1 a1 u3 u2 a2");
  });

  test("notes without a run keep their place", () => {
    const rows = [
      row("user", "u1", { runId: "1" }),
      row("assistant", "note"),
      row("assistant", "a1", { runId: "1" }),
      row("user", "u2", { runId: "2" }),
    ];
    expect(texts(orderByRun(rows, "2", own))).toBe("u1 a1 note u2");
  });
});

describe("messages for a vendor", () => {
  test("what joined the present turn is one message of its user", () => {
    const rows = [row("user", "q", { runId: "1" }), row("user", "also", { runId: "2" }), row("user", "next", { runId: "3" })];
    expect(toModelMessages(rows, new Set(["2", "3"]))).toEqual([
      { role: "user", content: [{ type: "text", text: "q" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "also" },
          { type: "text", text: "next" },
        ],
      },
    ]);
  });

  test("a result stands right behind its call", () => {
    const rows = [row("user", "q", { runId: "1" }), calling("t1", "1"), result("t1", "1", "hit"), row("assistant", "done", { runId: "1" })];
    expect(toModelMessages(rows, new Set(["2"]))).toEqual([
      { role: "user", content: [{ type: "text", text: "q" }] },
      { role: "assistant", content: [{ type: "toolCall", id: "t1", name: "find", args: { q: "t1" } }] },
      { role: "tool", toolCallId: "t1", name: "find", text: "hit" },
      { role: "assistant", content: [{ type: "text", text: "done" }] },
    ]);
  });

  test("a call without a result gets one that says so, a result without a call is dropped", () => {
    const messages = toModelMessages([calling("t1", "1"), result("t9", "1", "stray"), row("user", "next", { runId: "2" })], new Set(["2"]));
    expect(messages.map((m) => m.role)).toEqual(["assistant", "tool", "user"]);
    expect(messages[1]).toMatchObject({ toolCallId: "t1", isError: true });
  });

  test("call ids that a vendor uses again belong to the nearest result", () => {
    const rows = [calling("c0", "1"), result("c0", "1", "first"), calling("c0", "1"), result("c0", "1", "second")];
    const tools = toModelMessages(rows, new Set(["2"])).filter((m) => m.role === "tool");
    expect(tools.map((t) => t.text)).toEqual(["first", "second"]);
  });

  describe("pictures", () => {
    let made = 0;
    const image = (data = `AAAA${(made++).toString().padStart(4, "0")}`): MessageBlock => ({ type: "image", mimeType: "image/png", data });
    const sent = (turns: MessageBlock[][]) => {
      const rows = turns.map((content, i) => ({ ...row("user", "", { runId: String(i) }), content }));
      const last = new Set([String(turns.length - 1)]);
      return toModelMessages(rows, last).map((m) => (m.role === "user" ? m.content.filter(({ type }) => type === "image").length : m));
    };

    test("of the present turn all go out, of earlier ones the newest eight", () => {
      const present = Array.from({ length: 9 }, () => image());
      expect(sent([[image()], [image()], ...Array.from({ length: 7 }, () => [image()]), present])).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 1, 9]);
    });

    test("of earlier turns are 20 MiB at most", () => {
      const large = () => image("A".repeat((15 * 1024 * 1024 * 4) / 3 + made++));
      expect(sent([[image()], [large()], [large()], [image()], [image()]])).toEqual([0, 0, 1, 1, 1]);
    });

    test("that are the same go out once, where they were seen last", () => {
      expect(sent([[image("AAAA")], [image("AAAA")], [image("BBBB")], []])).toEqual([0, 1, 1, 0]);
    });

    test("of results count with the others, and are a note with their size when they are too old", () => {
      const png = Buffer.alloc(32);
      png.writeUInt32BE(0x89504e47, 0);
      png.writeUInt32BE(640, 16);
      png.writeUInt32BE(480, 20);
      const shown = { ...result("t1", "1", "seen:"), content: [{ type: "text" as const, text: "seen:" }, image(png.toString("base64"))] };
      const later = Array.from({ length: 8 }, () => ({ ...row("user", "", { runId: "2" }), content: [image()] }));
      const resultIn = (rows: MessageRow[]) => toModelMessages(rows, new Set(["9"])).find(({ role }) => role === "tool");

      expect(resultIn([calling("t1", "1"), shown])).toMatchObject({ text: "seen:", images: [{ mimeType: "image/png" }] });
      expect(resultIn([calling("t1", "1"), shown, ...later])).toEqual({ ...toolOf("t1"), text: "seen:\n[image 640x480]" });
    });

    test("that were left out, or are too old, are a note", () => {
      const rows = [{ ...row("user", "", { runId: "1" }), content: [image("")] }];
      expect(toModelMessages(rows, new Set(["1"]))).toEqual([{ role: "user", content: [{ type: "text", text: "[image]" }] }]);
    });

    test("documents and recordings share what pictures may have", () => {
      const file = (): MessageBlock => ({ type: "file", mimeType: "application/pdf", data: "AAAA", fileName: "a.pdf" });
      const rows = [[file()], [image()], ...Array.from({ length: 7 }, () => [image()]), [file()]].map((content, i) => ({
        ...row("user", "", { runId: String(i) }),
        content,
      }));

      const sent = toModelMessages(rows, new Set(["9"])).flatMap((m) => (m.role === "user" ? m.content : []));
      expect([sent[0], sent.at(-1)]).toEqual([{ type: "text", text: "[file a.pdf]" }, file()]);
    });
  });

  test("an answer without text is left out", () => {
    expect(toModelMessages([row("assistant", "", { runId: "1" })], new Set(["2"]))).toEqual([]);
  });
});

describe("length", () => {
  const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
  const said = (text: string): ModelMessage => ({ role: "assistant", content: [{ type: "text", text }] });

  test("the newest turns that fit are kept, beginning at a user message", () => {
    const messages = [user("123"), said("123"), user("123"), said("123")];
    expect(fitMessages(messages, 20)).toHaveLength(4);
    expect(fitMessages(messages, 19)).toEqual(messages.slice(2));
    expect(fitMessages(messages, 1)).toEqual(messages.slice(2));
  });

  test("a history that begins with an answer stays whole while it fits", () => {
    const messages = [said("123"), user("123"), said("123"), user("123")];
    expect(fitMessages(messages, 20)).toEqual(messages);
    expect(fitMessages(messages, 19)).toEqual(messages.slice(1));
    expect(fromFirstUser(messages)).toEqual(messages.slice(1));
    expect(fromFirstUser([said("123")])).toEqual([said("123")]);
  });
});

describe("a history that the caller sent", () => {
  const said = (role: "user" | "assistant", text: string) => ({ role, content: [{ type: "text" as const, text }] });

  test("turns that the session holds are not stored twice", () => {
    const rows = [row("user", "hi", { runId: "1" }), row("assistant", "hello", { runId: "1" })];
    expect(missingTurns([said("user", "hi"), said("assistant", "hello")], rows)).toEqual([]);
  });

  test("a new session takes all of it", () => {
    const given = [said("user", "hi"), said("assistant", "hello")];
    expect(missingTurns(given, [])).toEqual(given);
  });

  test("the agent's own tool calls are invisible to the caller", () => {
    const rows = [
      row("user", "q", { runId: "1" }),
      calling("t1", "1", "Let me look."),
      result("t1", "1", "hit"),
      row("assistant", "Found.", { runId: "1" }),
    ];
    expect(missingTurns([said("user", "q"), said("assistant", "Let me look.\n\nFound.")], rows)).toEqual([]);
    expect(missingTurns([said("user", "q"), said("assistant", "Found.")], rows)).toEqual([]);
  });

  test("what follows the first unknown turn is new", () => {
    const rows = [row("user", "a"), row("assistant", "b"), row("user", "c")];
    const given = [said("user", "a"), said("assistant", "other"), said("user", "c")];
    expect(missingTurns(given, rows)).toEqual(given.slice(1));
  });

  test("a shortened history is found further on", () => {
    const rows = [row("user", "a"), row("assistant", "b"), row("user", "c"), row("assistant", "d")];
    expect(missingTurns([said("user", "c"), said("assistant", "d")], rows)).toEqual([]);
  });

  test("client tool calls and their results are matched by id", () => {
    const given = [
      { role: "assistant" as const, content: [{ type: "toolCall" as const, id: "t1", name: "find", arguments: {} }] },
      { role: "toolResult" as const, content: [{ type: "text" as const, text: "hit" }], toolCallId: "t1" },
      { role: "toolResult" as const, content: [{ type: "text" as const, text: "other" }], toolCallId: "t2" },
    ];
    expect(missingTurns(given, [calling("t1", "1"), result("t1", "1", "hit")])).toEqual(given.slice(2));
  });
});

describe("work on a long transcript grows with its length", () => {
  const said = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

  test("results find their calls", () => {
    const work = (n: number) => {
      const call = (i: number): MessageBlock => ({ type: "toolCall", id: `c${i}`, name: "find", arguments: {} });
      const rows = [{ ...row("assistant", ""), content: numbers(n).map(call) }, ...numbers(n).map((i) => result(`c${n - i}`, "1", "hit"))];
      return () => toModelMessages(rows, new Set());
    };

    expect(growth(work, { from: 100, to: 16_000 })).toBeLessThan(LINEAR);
  });

  test("messages that joined a turn become one", () => {
    const work = (n: number) => {
      const rows = numbers(n).map(() => row("user", "x", { runId: "1" }));
      return () => toModelMessages(rows, new Set(["1"]));
    };

    expect(growth(work, { from: 100, to: 32_000 })).toBeLessThan(LINEAR);
  });

  test("a long message is read once, however many rows it is compared with", () => {
    const work = (n: number) => {
      const rows = numbers(n).map((i) => row("user", `row ${i}`));
      const given = [said("a b ".repeat(n * 20))];
      return () => missingTurns(given, rows);
    };

    expect(growth(work, { from: 25, to: 3_200 })).toBeLessThan(LINEAR);
  });

  test("a run of many answers is compared as one without being put together for each of them", () => {
    const work = (n: number) => {
      const rows = numbers(n).map((i) => row("assistant", `a ${i} `.repeat(10), { runId: "1" }));
      const given = [{ role: "assistant" as const, content: [{ type: "text" as const, text: "no such answer" }] }];
      return () => missingTurns(given, rows);
    };

    expect(growth(work, { from: 50, to: 6_400 })).toBeLessThan(LINEAR);
  });

  test("calls are looked up by id", () => {
    const work = (n: number) => {
      const calls: MessageBlock[] = numbers(n).map((i) => ({ type: "toolCall", id: `c${n - i}`, name: "find", arguments: {} }));
      const rows = [{ ...row("assistant", ""), content: calls.toReversed() }];
      return () => missingTurns([{ role: "assistant", content: calls }], rows);
    };

    expect(growth(work, { from: 100, to: 32_000 })).toBeLessThan(LINEAR);
  });
});
