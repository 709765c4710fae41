import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath, rm } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import {
  type Channel,
  checkedUrl,
  type FetchRules,
  fetchPublic,
  messageOf,
  NotDispatchedError,
  type OutboundMedia,
  type OutboundMessage,
  SendRefusedError,
} from "svc/sdk";
import { messagingErrors } from "../errors.ts";
import { HEAD_BYTES, mediaTypeOf } from "../media/media-type.ts";

/** Files of one message. */
const MAX_FILES = 10;
/** Largest file that is fetched, whatever the platform takes. */
const MAX_FETCHED_BYTES = 10 * 1024 * 1024;
const MAX_NAME_CHARS = 200;
/** Time for all files of a message; a try as a whole has 60 s. */
const ALL_MS = 30_000;

type Files = NonNullable<OutboundMessage["media"]>;

/** Files of a message while it is sent. */
export interface OpenedMedia {
  files: Files;
  /** Removes what was fetched. */
  close(): Promise<void>;
}

export interface MediaDeps {
  /** Folder for fetched files; whatever an earlier process left there is removed at the start. */
  folder: string;
  /** Workspace of the agent whose message it is: the only place its files may be in. */
  workspace: string;
  maxBytes: number;
  signal: AbortSignal;
  fetch?: Pick<FetchRules, "isAllowed" | "lookup">;
}

/** Refuses files that no try could send, before there is a row. */
function checkMedia(media: readonly OutboundMedia[]): void {
  if (media.length > MAX_FILES)
    throw messagingErrors.invalidMedia({ reason: `${media.length} files are too many; expected at most ${MAX_FILES}` });
  for (const file of media) {
    const place = "url" in file ? file.url : file.path;
    if (place === "" || place.includes("\0")) throw messagingErrors.invalidMedia({ reason: "a file has no place" });
    try {
      if ("url" in file) checkedUrl(file.url);
    } catch (error) {
      throw messagingErrors.invalidMedia({ reason: messageOf(error) });
    }
  }
}

/**
 * Files of a message, or the lines that stand for them on a channel that takes none: the address of each, or its name.
 * @throws {SvcError} `invalid-media`
 */
export function withMedia(text: string, media: OutboundMedia[], channel: Channel | undefined): { text: string; media?: OutboundMedia[] } {
  checkMedia(media);
  if (media.length === 0) return { text };
  if (channel?.capabilities.media?.out === true) return { text, media };
  const lines = media.map((file) => ("url" in file ? file.url : `[file: ${nameOf(file)}]`)).join("\n");
  return { text: text === "" ? lines : `${text}\n\n${lines}` };
}

/**
 * Makes the files of a message readable for its channel: checks those of the workspace and fetches the others.
 * @throws as `Channel.send`
 */
export async function openMedia(media: readonly OutboundMedia[], uid: string, deps: MediaDeps): Promise<OpenedMedia> {
  const own = join(
    deps.folder,
    basename(uid)
      .replace(/[^\w-]/g, "_")
      .slice(0, 100),
  );
  const close = () => rm(own, { recursive: true, force: true });
  const files: Files = [];
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(ALL_MS)]);
  try {
    for (const [index, file] of media.entries())
      files.push("url" in file ? await fetched(file, { own, index, deps: { ...deps, signal } }) : await fromWorkspace(file, deps));
    return { files, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fetched(
  file: { url: string; name?: string },
  { own, index, deps }: { own: string; index: number; deps: MediaDeps },
): Promise<Files[number]> {
  const maxBytes = Math.min(deps.maxBytes, MAX_FETCHED_BYTES);
  const { content, mime } = await fetchPublic(file.url, { maxBytes, signal: deps.signal, ...deps.fetch });
  const path = join(own, String(index));
  try {
    await mkdir(own, { recursive: true, mode: 0o700 });
    const written = await open(path, "wx", 0o600);
    await written.writeFile(content).finally(() => written.close());
  } catch (error) {
    throw new NotDispatchedError(`a fetched file could not be stored: ${messageOf(error)}`, { cause: error });
  }
  return { path, mime: mediaTypeOf(content.subarray(0, HEAD_BYTES), mime), name: nameOf(file) };
}

/** A file below the workspace, whatever links its path goes through. */
async function fromWorkspace(file: { path: string; name?: string }, { workspace, maxBytes }: MediaDeps): Promise<Files[number]> {
  const refuse = (reason: string) => new SendRefusedError(`the file "${nameOf(file)}" ${reason}`, { isPermanent: true });
  const [root, path] = await Promise.all([realpath(workspace), realpath(resolve(workspace, file.path))]).catch(() => {
    throw refuse("is not there");
  });
  if (!path.startsWith(root + sep)) throw refuse("is outside the agent's workspace");
  const opened = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw refuse("cannot be read");
  });
  try {
    const { size, mode } = await opened.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refuse("is no file");
    if (size > maxBytes) throw refuse(`is larger than ${maxBytes} bytes`);
    return { path, mime: mediaTypeOf(await headOf(opened), ""), name: nameOf(file) };
  } finally {
    await opened.close();
  }
}

async function headOf(file: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  return head.subarray(0, bytesRead);
}

/** Name that people see: the last part of the path, without what could be taken for one. */
function nameOf(file: OutboundMedia): string {
  const last = (text: string) => text.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  const name = file.name ?? ("url" in file ? decoded(last(new URL(file.url).pathname)) : last(file.path));
  return last(name.replace(/\p{Cc}/gu, "")).slice(0, MAX_NAME_CHARS) || "file";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
