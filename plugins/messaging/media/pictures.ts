import { limits, type RunRequest } from "svc/sdk";
import { isPlausiblePicture, pictureTypes } from "./image-size.ts";
import type { MediaStore } from "./media-store.ts";

/** Pictures of one message that go to the model, and their bytes together. */
const MAX_PICTURES = 8;
const MAX_BYTES = 12 * 1024 * 1024;

/** True for a file that a model may be shown. */
export function isPictureFor(mime: string, bytes: number): boolean {
  return pictureTypes.includes(mime) && bytes > 0 && bytes <= limits.imageMaxBytes;
}

/** Pictures of a message as a run takes them. One that is gone, broken or of impossible size is left out: the text names it all the same. */
export async function picturesOf(
  files: ReadonlyArray<{ file: string; mime: string; bytes: number }>,
  media: Pick<MediaStore, "read">,
): Promise<NonNullable<RunRequest["attachments"]>> {
  const pictures: NonNullable<RunRequest["attachments"]> = [];
  let left = MAX_BYTES;
  for (const { file, mime, bytes } of files.filter((one) => isPictureFor(one.mime, one.bytes)).slice(0, MAX_PICTURES)) {
    const content = bytes <= left ? await media.read(file, limits.imageMaxBytes) : undefined;
    if (!content || !isPlausiblePicture(content, mime)) continue;
    left -= content.length;
    pictures.push({ type: "image", mimeType: mime, data: content.toString("base64") });
  }
  return pictures;
}
