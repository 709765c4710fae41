import type { ToolResult } from "svc/sdk";
import { texts } from "./result.ts";

const kinds: ReadonlyArray<{ type: string; is(head: Buffer): boolean }> = [
  { type: "image/png", is: (head) => head.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")) },
  { type: "image/jpeg", is: (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff },
  { type: "image/gif", is: (head) => /^GIF8[79]a/.test(head.toString("latin1", 0, 6)) },
  { type: "image/webp", is: (head) => head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP" },
];

/** Media type of a picture by its first bytes. */
export function pictureType(head: Buffer): string | undefined {
  return kinds.find(({ is }) => is(head))?.type;
}

/** Result for a picture: what it is, as long as results of tools are text. */
export function pictureResult(picture: { shown: string; mimeType: string; size: number }): ToolResult {
  return texts([`[picture ${picture.shown}: ${picture.mimeType}, ${picture.size} bytes; its content cannot be shown here]`], picture);
}
