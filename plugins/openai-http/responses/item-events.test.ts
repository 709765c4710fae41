import { describe, expect, test } from "vitest";
import type { EventStream } from "../event-stream.ts";
import { Events, ItemEvents } from "./item-events.ts";
import type { Answer, ResponseHead } from "./resource.ts";

interface Sent {
  type: string;
  output_index: number;
}

const head = { id: "resp_00000000-0000-8000-8000-000000000000" } as ResponseHead;
const a = { id: "a", name: "weather" };
const b = { id: "b", name: "weather" };
const message = (at: number, deltas: number) => [
  `${at} output_item.added`,
  `${at} content_part.added`,
  ...Array.from({ length: deltas }, () => `${at} output_text.delta`),
  `${at} output_text.done`,
  `${at} content_part.done`,
  `${at} output_item.done`,
];
const call = (at: number, deltas: number) => [
  `${at} output_item.added`,
  ...Array.from({ length: deltas }, () => `${at} function_call_arguments.delta`),
  `${at} function_call_arguments.done`,
  `${at} output_item.done`,
];

/** Order of all events, and the items at the end. */
async function streamed(write: (items: ItemEvents) => Promise<void>, { text = "", ids = ["a"] }) {
  const order: string[] = [];
  const take = (frame: string) => {
    const { type, output_index } = JSON.parse(frame.split("data: ")[1] ?? "") as Sent;
    order.push(`${output_index} ${type.replace("response.", "")}`);
  };
  const items = new ItemEvents(new Events({ hasRoom: () => true, write: take } as unknown as EventStream), head, { hasTools: true });
  await write(items);
  const toolCalls = ids.map((id) => ({ id, name: "weather", args: { x: 1 } }));
  const output = await items.end({ ok: true, text, toolCalls, finishReason: "tool_calls" } as unknown as Answer);
  return { order, output };
}

describe("the events of items come one item after the other:", () => {
  test("a text that no delta brought, such as that of a run without any", async () => {
    const { order, output } = await streamed(async () => undefined, { text: "No response from svc.", ids: [] });

    expect(order).toEqual(message(0, 1));
    expect(output).toMatchObject([{ type: "message", phase: "final_answer", content: [{ text: "No response from svc." }] }]);
  });

  test("a text and a call", async () => {
    const { order, output } = await streamed(
      async (items) => {
        await items.addText("One ");
        await items.addText("moment.");
        await items.addArguments(a, '{"x"');
        await items.addArguments(a, ":1}");
      },
      { text: "One moment." },
    );

    expect(order).toEqual([...message(0, 2), ...call(1, 2)]);
    expect(output).toMatchObject([
      { type: "message", phase: "commentary", status: "completed" },
      { call_id: "a", status: "completed" },
    ]);
  });

  test("two calls", async () => {
    const { order, output } = await streamed(
      async (items) => {
        for (const one of [a, b]) for (const part of ['{"x"', ":1}"]) await items.addArguments(one, part);
      },
      { ids: ["a", "b"] },
    );

    expect(order).toEqual([...call(0, 2), ...call(1, 2)]);
    expect(output).toMatchObject([
      { call_id: "a", status: "completed" },
      { call_id: "b", status: "completed" },
    ]);
  });

  test("two calls that are written by turns, and a text behind them", async () => {
    const { order, output } = await streamed(
      async (items) => {
        await items.addText("Hm.");
        for (const part of ['{"x"', ":1}"]) for (const one of [a, b]) await items.addArguments(one, part);
        await items.addText(" Done.");
      },
      { text: "Hm. Done.", ids: ["a", "b"] },
    );

    expect(order).toEqual([...message(0, 1), ...call(1, 2), ...message(2, 1), ...call(3, 1)]);
    expect(output).toMatchObject([
      { content: [{ text: "Hm." }] },
      { call_id: "a", arguments: '{"x":1}' },
      { content: [{ text: " Done." }] },
      { call_id: "b", arguments: '{"x":1}' },
    ]);
  });
});
