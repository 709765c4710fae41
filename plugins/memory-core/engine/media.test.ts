import { expect, test } from "vitest";
import { isMedia, mediaLabel, modalityOf, sniffMime } from "./media.ts";

const bytes = (...parts: Array<string | number[]>) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
const ftyp = (major: string, ...compatible: string[]) =>
  bytes([0, 0, 0, 16 + 4 * compatible.length], "ftyp", major, [0, 0, 0, 0], ...compatible, "rest of the file");

test("exactly these extensions are media, in any case", () => {
  const images = ["jpg", "jpeg", "png", "webp", "gif", "heic", "heif"];
  const sounds = ["mp3", "wav", "ogg", "opus", "m4a", "aac", "flac"];
  for (const extension of images) expect([extension, modalityOf(`a/b.${extension}`)]).toEqual([extension, "image"]);
  for (const extension of sounds) expect([extension, modalityOf(`a/b.${extension.toUpperCase()}`)]).toEqual([extension, "audio"]);
  for (const extension of ["svg", "bmp", "tiff", "avif", "mp4", "webm", "wma", "aiff", "md", "png.txt", ""]) {
    expect([extension, modalityOf(`a/b.${extension}`)]).toEqual([extension, undefined]);
  }
});

test("only the chosen kinds count", () => {
  expect([isMedia("a.png", ["image"]), isMedia("a.png", ["audio"]), isMedia("a.mp3", ["audio"]), isMedia("a.png", [])]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test("the text of a media file names it", () => {
  expect([mediaLabel("../pics/cat.png", "image"), mediaLabel("a.mp3", "audio")]).toEqual([
    "Image file: ../pics/cat.png",
    "Audio file: a.mp3",
  ]);
});

test.each<[string | undefined, Buffer]>([
  ["image/jpeg", bytes([0xff, 0xd8, 0xff, 0xe0])],
  ["image/png", bytes("\x89PNG\r\n\x1a\n", "rest")],
  ["image/gif", bytes("GIF89a")],
  ["image/gif", bytes("GIF87a")],
  ["image/webp", bytes("RIFF", [1, 0, 0, 0], "WEBPVP8 ")],
  ["image/heic", ftyp("heic", "mif1")],
  ["image/heif", ftyp("mif1", "miaf")],
  ["audio/wav", bytes("RIFF", [1, 0, 0, 0], "WAVEfmt ")],
  ["audio/ogg", bytes("OggS", [0, 2], "OpusHead")],
  ["video/ogg", bytes("OggS", [0, 2], "\x80theora")],
  ["audio/flac", bytes("fLaC")],
  ["audio/mpeg", bytes("ID3", [3, 0])],
  ["audio/mpeg", bytes([0xff, 0xfb, 0x90])],
  ["audio/mpeg", bytes([0xff, 0xf3, 0x90])],
  ["audio/aac", bytes([0xff, 0xf1, 0x50])],
  ["audio/aac", bytes([0xff, 0xf9, 0x50])],
  ["audio/aac", bytes("ADIF")],
  ["audio/mp4", ftyp("M4A ", "mp42", "isom")],
  ["audio/mp4", ftyp("mp42", "M4A ")],
  [undefined, ftyp("isom", "avc1")],
  [undefined, bytes("RIFF", [1, 0, 0, 0], "AVI LIST")],
  [undefined, bytes("<svg xmlns=")],
  [undefined, bytes("%PDF-1.7")],
  [undefined, bytes([0xff, 0xea])],
  [undefined, Buffer.alloc(0)],
])("%s is told by the first bytes", (mime, head) => {
  expect(sniffMime(head)).toBe(mime);
});
