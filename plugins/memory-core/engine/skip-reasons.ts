/** Code of a document that stopped the index before. */
export const STALLED = "STALLED";
/** The same for one of which no change can be seen without reading it. */
export const STALLED_TRANSCRIPT = "STALLED_TRANSCRIPT";

export function isStall(code: string): boolean {
  return code === STALLED || code === STALLED_TRANSCRIPT;
}

/** Says for people why a document, or a passage of it, was left out; what is no code of ours is said as it is. */
export function explainSkip(code: string): string {
  if (code === "EFBIG") return "it is larger than 16 MiB; split it to have it indexed";
  if (code === "TOO_MANY_FILES") return "the index already holds 200,000 files; narrow extraPaths";
  if (code === "MEDIA_TOO_LARGE") return "it is larger than memorySearch.multimodal.maxFileBytes";
  if (code === "MEDIA_TYPE") return "its content is not what its name says";
  if (code === "ESTALE") return "the file was replaced while it was read; the next sync reads it again";
  if (code === STALLED) return "it stopped the index, so it is left out until it changes; svc memory index --force tries it again";
  if (code === STALLED_TRANSCRIPT) return "it stopped the index, so it is left out; svc memory index --force tries it again";
  return code;
}
