/** Characters of base64 in which a picture says how large it is; a JPEG may carry much else before. */
const HEAD_CHARS = 65_536;

interface Size {
  width: number;
  height: number;
}

/** Width and height of a picture as its own head tells them; undefined where that is not to be read. Pure. */
export function pictureSize({ mimeType, data }: { mimeType: string; data: string }): Size | undefined {
  const bytes = Buffer.from(data.slice(0, HEAD_CHARS), "base64");
  const read = readers[mimeType];
  const size = bytes.length < 26 ? undefined : read?.(bytes);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

const readers: Readonly<Record<string, (bytes: Buffer) => Size | undefined>> = {
  "image/png": (bytes) =>
    bytes.readUInt32BE(0) === 0x89504e47 ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined,
  "image/gif": (bytes) =>
    bytes.toString("latin1", 0, 3) === "GIF" ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) } : undefined,
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Segments follow each other; the one that starts the frame holds the size. */
function jpegSize(bytes: Buffer): Size | undefined {
  if (bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const [mark, kind] = [bytes[at], bytes[at + 1] ?? 0];
    if (mark !== 0xff) return undefined;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc;
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || bytes.toString("latin1", 8, 12) !== "WEBP") return undefined;
  const form = bytes.toString("latin1", 12, 16);
  if (form === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  const bits = bytes.readUInt32LE(21);
  return form === "VP8L" ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : undefined;
}
