const kinds: ReadonlyArray<{ type: string; is(head: Buffer): boolean }> = [
  { type: "image/png", is: (head) => head.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")) },
  { type: "image/jpeg", is: (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff },
  { type: "image/gif", is: (head) => /^GIF8[79]a/.test(head.toString("latin1", 0, 6)) },
  { type: "image/webp", is: (head) => head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP" },
];
/** Media type of a picture that models read, by its first 12 bytes: PNG, JPEG, GIF or WebP. */
export function pictureType(head: Buffer): string | undefined {
  return kinds.find(({ is }) => is(head))?.type;
}
