import { realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import { isInside } from "./inside.ts";

/** Tells the places below a workspace that are the gateway's own. */
export type Closed = (parts: readonly string[]) => boolean;

/** Names of the files by which gateways claim a workspace. */
const claim = /^\.svc-gateway\.[0-9a-f]{8}\.lock$/i;

/**
 * A workspace may lie around the state directory, or be it: what is in there stays closed but for the agent's own notes. So do the files by which gateways claim a
 * workspace.
 */
export async function closedIn(root: string, stateDir: string): Promise<Closed> {
  const isClosed = await inStateDir(root, stateDir);
  return (parts) => parts.some((part) => claim.test(part)) || isClosed(parts);
}

async function inStateDir(root: string, stateDir: string): Promise<Closed> {
  const [real = root, state = stateDir] = await Promise.all([root, stateDir].map((path) => realpath(path).catch(() => path)));
  if (real === state) return (parts) => parts.length > 0 && !isOwnNote(parts);
  if (!isInside(real, state)) return () => false;
  // In any case: file systems may not tell them apart.
  const way = relative(real, state).toLowerCase().split(sep);
  return (parts) => way.every((name, i) => name === parts[i]?.toLowerCase());
}

function isOwnNote(parts: readonly string[]): boolean {
  const [first = ""] = parts;
  return first === "memory" || first === "skills" || (parts.length === 1 && /\.md$/i.test(first));
}
