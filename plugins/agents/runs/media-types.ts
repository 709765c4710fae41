/** Pictures that models read. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

interface FileType {
  mimeType: string;
  /** Whether content begins as this type does. */
  begins(bytes: Buffer): boolean;
}

const begins =
  (text: string, at = 0) =>
  (bytes: Buffer) =>
    bytes.toString("latin1", at, at + text.length) === text;

/** A frame of MPEG audio, of the layer that the low bits of its second byte name. */
const isFrame = (bytes: Buffer, layers: readonly number[]) =>
  bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0 && layers.includes(((bytes[1] ?? 0) >> 1) & 3);

const types: readonly FileType[] = [
  // A PDF may have up to a kilobyte of something else before its header.
  { mimeType: "application/pdf", begins: (bytes) => bytes.subarray(0, 1_024).includes("%PDF-") },
  { mimeType: "audio/mpeg", begins: (bytes) => begins("ID3")(bytes) || isFrame(bytes, [1, 2, 3]) },
  { mimeType: "audio/wav", begins: (bytes) => begins("RIFF")(bytes) && begins("WAVE", 8)(bytes) },
  { mimeType: "audio/mp4", begins: begins("ftyp", 4) },
  { mimeType: "audio/ogg", begins: begins("OggS") },
  { mimeType: "audio/webm", begins: (bytes) => bytes.readUIntBE(0, Math.min(4, bytes.length)) === 0x1a45dfa3 },
  { mimeType: "audio/flac", begins: begins("fLaC") },
  { mimeType: "audio/aac", begins: (bytes) => begins("ADIF")(bytes) || isFrame(bytes, [0]) },
];

/** Files that go to models as they are. */
export const fileTypes: readonly string[] = types.map(({ mimeType }) => mimeType);

/** Whether content begins as files of its type do. */
export function isOfType(mimeType: string, bytes: Buffer): boolean {
  return bytes.length > 0 && types.some((type) => type.mimeType === mimeType && type.begins(bytes));
}
