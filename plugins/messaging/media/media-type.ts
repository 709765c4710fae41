/** Type of bytes that are neither of a known format nor text. */
const UNKNOWN = "application/octet-stream";
/** Bytes at the beginning of a file that tell its type. */
export const HEAD_BYTES = 4_100;

/** Formats by their first bytes. `family`: declared types that are a closer name for a file of this format. */
const formats: ReadonlyArray<{ type: string; at?: number; bytes: string; family?: RegExp }> = [
  { type: "image/png", bytes: "\x89PNG\r\n\x1a\n" },
  { type: "image/jpeg", bytes: "\xff\xd8\xff" },
  { type: "image/gif", bytes: "GIF87a" },
  { type: "image/gif", bytes: "GIF89a" },
  { type: "image/webp", at: 8, bytes: "WEBP" },
  { type: "audio/wav", at: 8, bytes: "WAVE" },
  { type: "video/x-msvideo", at: 8, bytes: "AVI " },
  { type: "image/tiff", bytes: "II*\0" },
  { type: "image/tiff", bytes: "MM\0*" },
  { type: "image/heic", at: 4, bytes: "ftyphei", family: /^image\/hei[cf]$/ },
  { type: "image/heif", at: 4, bytes: "ftypmif1", family: /^image\/hei[cf]$/ },
  { type: "image/avif", at: 4, bytes: "ftypavif" },
  { type: "audio/mp4", at: 4, bytes: "ftypM4A", family: /^audio\/(?:mp4|x-m4a|aac)$/ },
  { type: "video/mp4", at: 4, bytes: "ftyp", family: /^(?:video\/(?:mp4|quicktime|3gpp)|audio\/(?:mp4|3gpp))$/ },
  { type: "application/pdf", bytes: "%PDF-" },
  { type: "application/ogg", bytes: "OggS", family: /^(?:audio|video)\/(?:ogg|opus)$/ },
  { type: "video/webm", bytes: "\x1a\x45\xdf\xa3", family: /^(?:video|audio)\/(?:webm|x-matroska)$/ },
  { type: "audio/flac", bytes: "fLaC" },
  { type: "audio/mpeg", bytes: "ID3" },
  { type: "audio/mpeg", bytes: "\xff\xfb" },
  { type: "audio/mpeg", bytes: "\xff\xf3" },
  { type: "audio/aac", bytes: "\xff\xf1" },
  { type: "audio/amr", bytes: "#!AMR" },
  { type: "application/gzip", bytes: "\x1f\x8b" },
  // Office documents and packages are archives of this format.
  { type: "application/zip", bytes: "PK\x03\x04", family: /^application\/(?:vnd\.[\w.+-]{1,100}|java-archive|epub\+zip)$/ },
];
const declaredText = /^(?:text\/[\w.+-]{1,60}|application\/(?:json|xml|yaml|toml|x-sh|sql|javascript|[\w.-]{1,60}\+(?:json|xml)))$/;

/**
 * Type of a file by its bytes; the sender's word counts only where it says more about the same bytes. Pure.
 * @param head the first `HEAD_BYTES` of the file, or all of it
 */
export function mediaTypeOf(head: Uint8Array, declared: string): string {
  const said = declared.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const found = formats.find(({ at = 0, bytes }) => text.startsWith(bytes, at));
  if (found) return found.family?.test(said) ? said : found.type;
  if (!isText(head)) return UNKNOWN;
  return declaredText.test(said) ? said : "text/plain";
}

/** True for UTF-8 without control characters; the last character may be cut off by the end of the head. */
function isText(head: Uint8Array): boolean {
  if (head.length === 0) return false;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
  } catch {
    return false;
  }
}
