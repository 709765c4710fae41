/** Pictures that are wider or higher are refused by vendors, and cost much to unpack. */
const MAX_SIDE = 8_000;

/** Formats that models take. */
export const pictureTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** True for a picture whose header names sides that a model may be given. Nothing is unpacked. Pure. */
export function isPlausiblePicture(bytes: Buffer, type: string): boolean {
  return (sizeOf(bytes, type) ?? [0]).every((side) => side >= 1 && side <= MAX_SIDE);
}

function sizeOf(bytes: Buffer, type: string): [width: number, height: number] | undefined {
  try {
    if (type === "image/png")
      return bytes.toString("latin1", 12, 16) === "IHDR" ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : undefined;
    if (type === "image/gif") return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    if (type === "image/webp") return webpSize(bytes);
    return type === "image/jpeg" ? jpegSize(bytes) : undefined;
  } catch {
    // Shorter than its header.
    return undefined;
  }
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (kind === "VP8 ") return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (kind !== "VP8L") return undefined;
  const packed = bytes.readUInt32LE(21);
  return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
}

/** Steps from segment to segment to the one that names the sides. */
function jpegSize(bytes: Buffer): [number, number] | undefined {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    // Scan data begins, or the picture ends, before its sides were named.
    if (marker === 0xda || marker === 0xd9) return undefined;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
