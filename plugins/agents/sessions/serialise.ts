import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageBlock, MessageRow } from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import { pictureSize } from "../runs/picture-size.ts";

/** Longest result of a tool, and longest arguments of a call, in a text that is to be summed up. */
const MAX_RESULT_CHARS = 2_000;
const MAX_ARGUMENT_CHARS = 1_000;
/** Longest text of a person or an answer in it. */
const MAX_TEXT_CHARS = 20_000;
/** Characters that are written at a stretch. */
const PIECE_CHARS = 200_000;

/** Rows as a text for the model that sums them up, one item per row; a long transcript is written in pieces. */
export async function serialise(rows: readonly MessageRow[]): Promise<string[]> {
  const items: string[] = [];
  let left = PIECE_CHARS;
  for (const row of rows) {
    const item = itemOf(row);
    if (item !== "") items.push(item);
    left -= item.length + 100;
    if (left > 0) continue;
    left = PIECE_CHARS;
    await nextTurn();
  }
  return items;
}

function itemOf(row: MessageRow): string {
  if (row.role === "toolResult")
    return labelled(row.isError ? "Tool error" : "Tool result", cutMiddle(textIn(row.content), MAX_RESULT_CHARS));
  const text = cutMiddle(textIn(row.content), MAX_TEXT_CHARS);
  if (row.role === "user") return labelled("User", text);
  const calls = row.content.flatMap((block) => (block.type === "toolCall" ? [`${block.name}(${argumentsOf(block.arguments)})`] : []));
  return [labelled("Assistant", text), labelled("Assistant tool calls", calls.join("; "))].filter((part) => part !== "").join("\n\n");
}

function labelled(label: string, text: string): string {
  return text === "" ? "" : `[${label}]: ${text}`;
}

function argumentsOf(args: unknown): string {
  return cutMiddle(typeof args === "string" ? args : (JSON.stringify(args) ?? ""), MAX_ARGUMENT_CHARS);
}

function textIn(content: readonly MessageBlock[]): string {
  return content
    .flatMap((block) => {
      if (block.type === "text") return [block.text];
      if (block.type === "file") return [`[file ${block.fileName ?? block.mimeType}]`];
      if (block.type !== "image") return [];
      const size = pictureSize(block);
      return [size ? `[image ${size.width}x${size.height}]` : "[image]"];
    })
    .join("\n");
}
