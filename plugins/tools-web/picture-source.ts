import { type AgentInfo, type FetchRules, fetchPublic, limits } from "svc/sdk";
import { closedIn, openContained, partsBelow, pictureType, sharedErrors, shownPath } from "svc/sdk/internal";

const FETCH_MS = 15_000;

/** A picture that a model can look at. */
export interface Picture {
  mimeType: string;
  /** Base64. */
  data: string;
  /** Place it was found at, for people and models. */
  from: string;
}

/** Picture in the workspace of an agent, as `read` reaches it: no link, nothing of the gateway's own. @throws {SvcError} `unsafe-file` with the reason */
export async function pictureInWorkspace({ workspace }: Pick<AgentInfo, "workspace">, stateDir: string, path: string): Promise<Picture> {
  const parts = partsBelow(workspace, path);
  const shown = shownPath(parts.join("/")) || ".";
  const isClosed = await closedIn(workspace, stateDir);
  if (isClosed(parts)) throw sharedErrors.unsafeFile({ path: shown, reason: "is the gateway's own" });
  const file = await openContained(workspace, parts, { maxBytes: limits.imageMaxBytes, oneName: true });
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, limits.imageMaxBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return toPicture(bytes.subarray(0, bytesRead), shown);
  } finally {
    await file.close();
  }
}

/** Picture on the public web. @throws as `fetchPublic` */
export async function pictureOnTheWeb(url: string, rules: Omit<FetchRules, "maxBytes">): Promise<Picture> {
  const file = await fetchPublic(url, { timeoutMs: FETCH_MS, ...rules, maxBytes: limits.imageMaxBytes });
  return toPicture(file.content, file.url);
}

/** The bytes say what it is: types that servers and file names tell are not believed. */
function toPicture(bytes: Buffer, from: string): Picture {
  const mimeType = pictureType(bytes);
  if (mimeType === undefined) throw new Error("there is no picture that can be read; expected PNG, JPEG, GIF or WebP");
  return { mimeType, data: bytes.toString("base64"), from };
}
