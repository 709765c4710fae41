import type { FileHandle } from "node:fs/promises";
import { limits, type ToolResult } from "svc/sdk";
import { texts } from "./result.ts";

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
