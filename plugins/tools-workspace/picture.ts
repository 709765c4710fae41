import type { FileHandle } from "node:fs/promises";
import { limits, type ToolResult } from "svc/sdk";
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

/** Result for a picture: a line that names it, and the picture itself for models that read pictures. One that is too large is only named. */
export async function pictureResult(file: FileHandle, picture: { shown: string; mimeType: string; size: number }): Promise<ToolResult> {
  const { shown, mimeType, size } = picture;
  const name = `[picture ${shown}: ${mimeType}, ${size} bytes`;
  if (size > limits.imageMaxBytes) return texts([`${name}; too large to be shown: ${limits.imageMaxBytes} bytes at most]`], picture);
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const { content, ...rest } = texts([`${name}]`], picture);
  return { ...rest, content: [...content, { type: "image", mimeType, data: bytes.toString("base64", 0, bytesRead) }] };
}
