import { extname } from "node:path";
import type { Modality } from "../index-settings.ts";

/** Number of bytes of a file that are read to tell what it is. */
export const SNIFFED_BYTES = 512;

const images = [".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".heif"];
const sounds = [".mp3", ".wav", ".ogg", ".opus", ".m4a", ".aac", ".flac"];
const modalityByExtension = new Map<string, Modality>([
  ...images.map((extension) => [extension, "image"] as const),
  ...sounds.map((extension) => [extension, "audio"] as const),
]);

/** Kind of media by file name; undefined when none. */
export function modalityOf(path: string): Modality | undefined {
  return modalityByExtension.get(extname(path).toLowerCase());
}

export function isMedia(path: string, modalities: readonly Modality[]): boolean {
  const modality = modalityOf(path);
  return modality !== undefined && modalities.includes(modality);
}

/** Text that stands for a media file in the index. */
export function mediaLabel(path: string, modality: Modality): string {
  return `${modality === "image" ? "Image" : "Audio"} file: ${path}`;
}

const ascii = (head: Buffer, from: number, to: number) => head.toString("latin1", from, to);

/** MIME type by the first bytes, whatever the name says. */
export function sniffMime(head: Buffer): string | undefined {
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return "image/jpeg";
  if (ascii(head, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (/^GIF8[79]a/.test(ascii(head, 0, 6))) return "image/gif";
  if (ascii(head, 0, 4) === "RIFF") return { WEBP: "image/webp", WAVE: "audio/wav" }[ascii(head, 8, 12)];
  if (ascii(head, 4, 8) === "ftyp") return isoMime(head);
  if (ascii(head, 0, 4) === "OggS") return ascii(head, 0, SNIFFED_BYTES).includes("theora") ? "video/ogg" : "audio/ogg";
  if (ascii(head, 0, 4) === "fLaC") return "audio/flac";
  if (ascii(head, 0, 4) === "ADIF") return "audio/aac";
  if (ascii(head, 0, 3) === "ID3") return "audio/mpeg";
  return frameMime(head);
}

/** ISO base media: the major brand first, then the compatible ones; a plain `isom` file may be a video. */
function isoMime(head: Buffer): string | undefined {
  const size = Math.min(head.length, head.length >= 4 ? head.readUInt32BE(0) : 0);
  const brands = [ascii(head, 8, 12)];
  for (let at = 16; at + 4 <= size; at += 4) brands.push(ascii(head, at, at + 4));
  for (const brand of brands) {
    if (/^(heic|heix|heim|heis|hevc|hevx)$/.test(brand)) return "image/heic";
    if (/^(mif1|msf1|heif)$/.test(brand)) return "image/heif";
    if (/^(M4A |M4B |M4P |F4A )$/.test(brand)) return "audio/mp4";
  }
  return undefined;
}

/** Frames of MPEG audio begin with eleven set bits; layer 0 is ADTS, which carries AAC. */
function frameMime(head: Buffer): string | undefined {
  if (head[0] !== 0xff || ((head[1] ?? 0) & 0xe0) !== 0xe0) return undefined;
  const second = head[1] ?? 0;
  if ((second & 0xf6) === 0xf0) return "audio/aac";
  const isLayer3 = (second & 0x06) === 0x02;
  return isLayer3 && (second & 0x18) !== 0x08 ? "audio/mpeg" : undefined;
}
