import { describe, expect, test } from "vitest";
import { isPlausiblePicture } from "./image-size.ts";
import { mediaTypeOf } from "./media-type.ts";

const latin = (text: string) => Buffer.from(text, "latin1");
const png = (width: number, height: number) => {
  const bytes = Buffer.concat([latin("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Buffer.alloc(17)]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const jpeg = (height: number, width: number) =>
  Buffer.concat([
    latin("\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08"),
    Buffer.from([height >> 8, height & 255, width >> 8, width & 255]),
    Buffer.alloc(12),
  ]);

describe("the type of a file", () => {
  test.each([
    ["a picture, whatever it is called", latin("\x89PNG\r\n\x1a\nx"), "text/html", "image/png"],
    ["no picture although it is called one", latin("GIF86a\0\x01"), "image/gif", "application/octet-stream"],
    ["an archive", latin("PK\x03\x04\0\0"), "image/png", "application/zip"],
    [
      "a document inside an archive",
      latin("PK\x03\x04\0\0"),
      "application/vnd.oasis.opendocument.text",
      "application/vnd.oasis.opendocument.text",
    ],
    ["a film in a container of films", latin("\0\0\0\x20ftypqt  "), "video/quicktime", "video/quicktime"],
    ["speech", latin("OggS\0\x02"), "audio/ogg; codecs=opus", "audio/ogg"],
    ["text of a closer kind", Buffer.from("a,b\nü,2"), "text/csv; charset=utf-8", "text/csv"],
    ["text that is called a program", Buffer.from("#!/bin/sh"), "application/x-msdownload", "text/plain"],
    ["text cut inside a character", Buffer.from("ü").subarray(0, 1), "text/plain", "text/plain"],
    ["bytes that are no text", latin("\xff\xfe\0a\0b"), "text/plain", "application/octet-stream"],
    ["text with an escape sequence of a terminal", Buffer.from("\x1b[2J"), "text/plain", "text/plain"],
    ["nothing at all", Buffer.alloc(0), "image/png", "application/octet-stream"],
  ])("is told by its bytes: %s", (_name, head, declared, type) => {
    expect(mediaTypeOf(head, declared)).toBe(type);
  });
});

describe("a picture for a model", () => {
  test.each([
    ["a small one", png(20, 10), "image/png", true],
    ["one that would unpack to gigabytes", png(60_000, 60_000), "image/png", false],
    ["one without an area", png(0, 10), "image/png", false],
    ["a photo with fill bytes before its frame", jpeg(480, 640), "image/jpeg", true],
    ["a photo that is too wide", jpeg(480, 9_000), "image/jpeg", false],
    ["a photo that ends before its frame", latin("\xff\xd8\xff\xe0\xff\xff"), "image/jpeg", false],
    ["a photo whose scan begins before its frame", Buffer.concat([latin("\xff\xd8\xff\xda\0\x04"), Buffer.alloc(20)]), "image/jpeg", false],
    ["an animation", latin("GIF89a\x10\0\x10\0\0\0"), "image/gif", true],
    ["the first bytes of an animation", latin("GIF89a\x10"), "image/gif", false],
    [
      "a web picture",
      Buffer.concat([latin("RIFF\0\0\0\0WEBPVP8X"), Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0, 0])]),
      "image/webp",
      true,
    ],
    ["a web picture of no known kind", Buffer.concat([latin("RIFF\0\0\0\0WEBPVP9 "), Buffer.alloc(20)]), "image/webp", false],
  ])("has sides that one takes: %s", (_name, bytes, type, isTaken) => {
    expect(isPlausiblePicture(bytes, type)).toBe(isTaken);
  });
});
