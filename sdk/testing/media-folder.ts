import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commonErrors } from "../errors.ts";
import { limits } from "../protocol/frames.ts";
import type { ChannelRun } from "../types/channel.ts";

/** Attachment that an adapter has saved. */
export interface SavedAttachment {
  path: string;
  /** As the adapter named them. */
  mime: string;
  name?: string;
  content: Buffer;
}

/** Keeps attachments of one account in a folder of its own, in place of the plugin that owns channels. */
export interface MediaFolder {
  /** Everything that was saved, oldest first. */
  saved: SavedAttachment[];
  save: ChannelRun["saveMedia"];
  close(): void;
}

/** @param maxBytes what the channel declares for one file */
export function openMediaFolder(maxBytes: number = limits.attachmentMaxBytes): MediaFolder {
  let folder: string | undefined;
  const saved: SavedAttachment[] = [];
  return {
    saved,
    async save(content, about) {
      folder ??= mkdtempSync(join(tmpdir(), "svc-media-"));
      const whole = await collect(content, Math.min(maxBytes, limits.attachmentMaxBytes));
      const path = join(folder, `${saved.length}`);
      saved.push({ path, content: whole, ...about });
      await writeFile(path, whole);
      return { path, bytes: whole.length, mime: about.mime };
    },
    close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function collect(content: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw commonErrors.mediaTooLarge({ maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
