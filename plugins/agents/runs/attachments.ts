import { limits, type MessageBlock, type ParamsOf, type RunRequest, type SvcError } from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import { agentErrors } from "../errors.ts";
import { fileTypes, imageTypes, isOfType } from "./media-types.ts";

type Given = NonNullable<ParamsOf<"chat.send">["attachments"]>[number];
type Attachment = NonNullable<RunRequest["attachments"]>[number];

const textType = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql))(?:\s*;.*)?$/;
/** Other names of types. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["audio/mp3", "audio/mpeg"],
  ["audio/wave", "audio/wav"],
  ["audio/x-wav", "audio/wav"],
  ["audio/m4a", "audio/mp4"],
  ["audio/x-m4a", "audio/mp4"],
]);
/** Longest text of one file that enters a transcript and a prompt. */
const MAX_FILE_CHARS = 200_000;

/**
 * Attachments as the protocol carries them, checked: pictures of at most 6 MiB, files of at most 20 MiB, decoded; documents and recordings of all
 * together at most 20 MiB. A long text is cut in the middle.
 * @throws {SvcError} `invalid-attachment`
 */
export function toAttachments(given: readonly Given[] | undefined): Attachment[] {
  let left = limits.attachmentMaxBytes;
  return (given ?? []).map((one, index) => {
    const fail = (reason: string) => agentErrors.invalidAttachment({ index, reason });
    const attachment = toAttachment(one, fail);
    if (attachment.type !== "file") return attachment;
    left -= decodedBytes(attachment.data);
    if (left < 0) throw fail(`documents and recordings of one message are larger than ${limits.attachmentMaxBytes} bytes together`);
    return attachment;
  });
}

function toAttachment({ mimeType, fileName, content }: Given, fail: (reason: string) => SvcError): Attachment {
  const type = mimeType.trim().toLowerCase();
  const isImage = imageTypes.includes(type);
  const maxBytes = isImage ? limits.imageMaxBytes : limits.attachmentMaxBytes;
  const data = content.replace(/^data:[^,]{0,100};base64,/, "");
  if (decodedBytes(data) > maxBytes) throw fail(`larger than ${maxBytes} bytes`);
  const bytes = decode(data);
  if (!bytes) throw fail("content is not base64");
  if (isImage) return { type: "image", mimeType: type, data };
  const name = (fileName ?? "").split(/[\\/]/).at(-1)?.trim();
  const named = name ? { fileName: name } : {};
  const fileType = fileTypeOf(type);
  if (fileTypes.includes(fileType)) {
    if (!isOfType(fileType, bytes)) throw fail(`content does not begin as ${fileType} does; send the file with its own type`);
    return { type: "file", mimeType: fileType, data, ...named };
  }
  if (!textType.test(type))
    throw fail(`type ${type.slice(0, 60)}; expected a text file or one of ${[...imageTypes, ...fileTypes].join(", ")}`);
  return { type: "text", ...named, text: cutMiddle(bytes.toString("utf8"), MAX_FILE_CHARS) };
}

/** Type without its parameters, by the name that files of it have here. */
function fileTypeOf(type: string): string {
  const bare = type.split(";", 1)[0]?.trim() ?? "";
  return aliases.get(bare) ?? bare;
}

/** Blocks that a request adds to the transcript in its sender's name. */
export function requestBlocks({ message, attachments }: Pick<RunRequest, "message" | "attachments">): MessageBlock[] {
  const text: MessageBlock[] = message === "" ? [] : [{ type: "text", text: message }];
  return [...text, ...(attachments ?? []).map(toBlock)];
}

function toBlock(attachment: Attachment): MessageBlock {
  if (attachment.type === "image") return { type: "image", mimeType: attachment.mimeType, data: attachment.data };
  if (attachment.type === "file") return attachment;
  return { type: "text", text: `[File${attachment.fileName ? ` ${attachment.fileName}` : ""}]\n${attachment.text}` };
}

function decodedBytes(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
}

/** Buffer steps over what is no base64, so the length tells whether everything was. */
function decode(data: string): Buffer | undefined {
  if (data === "" || data.length % 4 === 1 || data.includes("-") || data.includes("_")) return undefined;
  const bytes = Buffer.from(data, "base64");
  return bytes.length === decodedBytes(data) ? bytes : undefined;
}
