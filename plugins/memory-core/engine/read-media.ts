import { createHash } from "node:crypto";
import type { DocumentContent } from "./documents.ts";
import { codeOf } from "./fault.ts";
import { mediaLabel, modalityOf, SNIFFED_BYTES, sniffMime } from "./media.ts";
import { readUpTo, requireAt, withRegularFile } from "./read-file.ts";

/** An image or a sound of an extra path. @throws system errors other than "not there any more" */
export function readMedia(absolute: string, { path, real, maxBytes }: { path: string; real: string; maxBytes: number }): DocumentContent {
  const modality = modalityOf(path);
  if (!modality) return { kind: "gone" };
  const read = readBytes(absolute, { real, maxBytes });
  if (typeof read === "string") return read === "gone" ? { kind: "gone" } : { kind: "skipped", code: "MEDIA_TOO_LARGE" };
  const mime = sniffMime(read.bytes.subarray(0, SNIFFED_BYTES));
  if (!mime?.startsWith(`${modality}/`)) return { kind: "skipped", code: "MEDIA_TYPE" };
  const hash = hashOf(read.bytes);
  const bytes = () => {
    try {
      const again = readBytes(absolute, { real, maxBytes });
      return typeof again !== "string" && hashOf(again.bytes) === hash ? again.bytes : undefined;
    } catch {
      return undefined; // the next sync says what is wrong with it
    }
  };
  return { kind: "media", media: { label: mediaLabel(path, modality), mime, bytes }, hash, mtimeMs: read.mtimeMs, size: read.bytes.length };
}

function readBytes(
  absolute: string,
  { real, maxBytes }: { real: string; maxBytes: number },
): { bytes: Buffer; mtimeMs: number } | "gone" | "too-large" {
  try {
    const content = withRegularFile(absolute, (fd, stats) => {
      requireAt(fd, stats, real);
      if (stats.size > maxBytes) return "too-large" as const;
      const bytes = readUpTo(fd, maxBytes + 1, stats.size);
      return bytes.length > maxBytes ? ("too-large" as const) : { bytes, mtimeMs: Math.floor(stats.mtimeMs) };
    });
    return content ?? "gone";
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return "gone";
    throw error;
  }
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
