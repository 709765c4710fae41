import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf, type RunRequest } from "svc/sdk";
import { pictureType } from "svc/sdk/internal";
import { invalidImage } from "./content.ts";
import { badRequest } from "./errors.ts";
import type { Turn } from "./prompt.ts";

type Attachments = NonNullable<RunRequest["attachments"]>;

export const MAX_IMAGES = 8;
/** Images of all earlier turns of a request; only the newest few are decoded. */
const MAX_EARLIER_IMAGES = 500;
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
/** All images of one turn. */
export const MAX_TOTAL_BYTES = 20 * 1024 * 1024;
const allowedTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp", "image/heic", "image/heif"]);
/** Enough for every signature below. */
const SIGNATURE_BYTES = 12;
const dataPrefix = /^data:(image\/[a-z0-9.+-]+)(?:;[^,;]*)*;base64$/i;
const MAX_PREFIX_CHARS = 200;
/** Base64 characters checked before the loop is given back. */
const SLICE_CHARS = 1_000_000;

/** Says why an image is refused, for the log: the caller gets one fixed message. */
type Refuse = (reason: string) => void;
/** Fetches a URL as a `data:` address. */
type FetchImage = (url: string) => Promise<string>;

/**
 * Images of the current turn, one after the other.
 * @param fetchImage without it only `data:` addresses are taken
 * @throws {SvcError} `v1-bad-request`
 */
export async function decodeImages(addresses: string[], refuse: Refuse, fetchImage?: FetchImage): Promise<Attachments> {
  const fail = (reason: string) => {
    refuse(reason);
    return badRequest(invalidImage);
  };
  if (addresses.length > MAX_IMAGES) throw fail(`${addresses.length} images; at most ${MAX_IMAGES}`);
  const images: Attachments = [];
  let total = 0;
  for (const [i, address] of addresses.entries()) {
    const image = await readImage(address, fetchImage);
    if (typeof image === "string") throw fail(`image ${i}: ${image}`);
    total += image.bytes;
    if (total > MAX_TOTAL_BYTES) throw fail(`the images are larger than ${MAX_TOTAL_BYTES} bytes together`);
    images.push({ type: "image", mimeType: image.mimeType, data: image.data });
  }
  return images;
}

async function readImage(address: string, fetchImage: FetchImage | undefined): ReturnType<typeof decodeImage> {
  if (!fetchImage || !/^https?:/i.test(address)) return decodeImage(address);
  return fetchImage(address).then(decodeImage, messageOf);
}

/**
 * Puts the images of earlier turns into these, the newest first and only so many as one turn may have. The others stay without their bytes, which a
 * model reads as a note: what the client sends again with each request is no reason to refuse all of them.
 * @throws {SvcError} `v1-bad-request` for more images than any conversation has
 */
export async function addEarlierImages(earlier: Turn["earlierImages"]): Promise<void> {
  if (earlier.length > MAX_EARLIER_IMAGES)
    throw badRequest(`messages: ${earlier.length} images in earlier turns; at most ${MAX_EARLIER_IMAGES}.`);
  const byTurn = new Map<Turn["history"][number], Attachments>();
  let [count, bytes] = [MAX_IMAGES, MAX_TOTAL_BYTES];
  for (const { turn, address } of earlier.toReversed()) {
    count -= 1;
    const image = count < 0 || bytes <= 0 ? "too old" : await decodeImage(address);
    if (typeof image !== "string") bytes -= image.bytes;
    const fits = typeof image !== "string" && bytes >= 0;
    const images = byTurn.get(turn) ?? [];
    byTurn.set(turn, images);
    images.push({ type: "image", ...(fits ? { mimeType: image.mimeType, data: image.data } : { mimeType: "image/*", data: "" }) });
  }
  // Right behind the text: images are met from the last to the first.
  for (const [turn, images] of byTurn) turn.content.splice(1, 0, ...images.reverse());
}

/** The image of a `data:` address, or why it is refused. */
export async function decodeImage(address: string): Promise<{ mimeType: string; data: string; bytes: number } | string> {
  const comma = address.indexOf(",");
  const declared = comma < 0 || comma > MAX_PREFIX_CHARS ? undefined : dataPrefix.exec(address.slice(0, comma))?.[1]?.toLowerCase();
  if (declared === undefined) return "not a base64 data: address";
  if (!allowedTypes.has(declared)) return `type ${declared} is not accepted`;
  const data = address.slice(comma + 1);
  const bytes = Math.floor((data.replace(/={1,2}$/, "").length * 3) / 4);
  if (bytes > MAX_IMAGE_BYTES) return `larger than ${MAX_IMAGE_BYTES} bytes`;
  if (!(await isBase64(data))) return "not valid base64";
  const found = typeOf(Buffer.from(data.slice(0, Math.ceil(SIGNATURE_BYTES / 3) * 4), "base64"));
  if (found === undefined || familyOf(found) !== familyOf(declared)) return `the bytes are not ${declared}`;
  return { mimeType: declared, data, bytes };
}

async function isBase64(data: string): Promise<boolean> {
  if (data.length === 0 || data.length % 4 === 1) return false;
  const body = data.replace(/={1,2}$/, "");
  for (let at = 0; at < body.length; at += SLICE_CHARS) {
    if (!/^[A-Za-z0-9+/]*$/.test(body.slice(at, at + SLICE_CHARS))) return false;
    if (at > 0) await nextTurn();
  }
  return true;
}

/** The type the first bytes tell. */
function typeOf(bytes: Buffer): string | undefined {
  const picture = pictureType(bytes);
  if (picture !== undefined) return picture;
  const text = bytes.toString("latin1", 0, 12);
  if (text.slice(4, 8) === "ftyp" && /^(hei[cxms]|hev[cxms]|mif1|msf1)$/.test(text.slice(8, 12))) return "image/heic";
  return undefined;
}

/** HEIC files are HEIF files; their signatures overlap. */
function familyOf(type: string): string {
  return type === "image/heif" ? "image/heic" : type;
}
