import { commonErrors, resolveAgents, type SvcConfig } from "svc/sdk";
import { type Closed, closedIn, partsBelow, sharedErrors, shownPath } from "svc/sdk/internal";
import type { Skills } from "./skills/skills.ts";

/** A file or folder that an agent's tools may reach. */
export interface Place {
  /** Folder that it stands below. */
  root: string;
  /** Names on the way. */
  parts: string[];
  /** Path for texts: relative, on one line. */
  shown: string;
  isClosed: Closed;
}

export interface Places {
  /** Place that a tool is asked to read. @throws {SvcError} `unsafe-file` with the reason, `unknown-agent` */
  toRead(agentId: string, path: string): Promise<Place>;
  /** Place that a tool is asked to change. @throws {SvcError} `unsafe-file` with the reason, `unknown-agent` */
  toWrite(agentId: string, path: string): Promise<Place>;
}

/** Folders whose files other programs run: plugins of this gateway, and hooks of Git. */
const runFolders = new Set([".svc", ".git"]);
const GATEWAYS_OWN = "is the gateway's own";

/** Places below the workspaces of the agents, without what is the gateway's own. */
export function createPlaces(snapshot: () => SvcConfig, stateDir: string, skills: Pick<Skills, "folderFor">): Places {
  const rootOf = (agentId: string): string => {
    const agent = resolveAgents(snapshot(), stateDir).find(({ id }) => id === agentId);
    if (!agent) throw commonErrors.unknownAgent({ agentId });
    return agent.workspace;
  };
  const find = async (agentId: string, path: string): Promise<Place> => {
    const root = rootOf(agentId);
    const parts = partsBelow(root, path.trim() === "" ? "." : path);
    const shown = shownPath(parts.join("/")) || ".";
    const isClosed = await closedIn(root, stateDir);
    if (isClosed(parts)) throw sharedErrors.unsafeFile({ path: shown, reason: GATEWAYS_OWN });
    return { root, parts, shown, isClosed };
  };
  return {
    async toRead(agentId, path) {
      const place = await find(agentId, path);
      const root = await skills.folderFor(agentId, place.parts);
      return root === undefined ? place : { ...place, root, parts: place.parts.slice(1), isClosed: () => false };
    },
    async toWrite(agentId, path) {
      const place = await find(agentId, path);
      const reason = refusalToWrite(place.parts);
      if (reason !== undefined) throw sharedErrors.unsafeFile({ path: place.shown, reason });
      return place;
    },
  };
}

function refusalToWrite(parts: readonly string[]): string | undefined {
  // Names are compared as file systems may: in any case, and without the dots and blanks that some drop from the end.
  const names = parts.map((part) => part.toLowerCase().replace(/[. ]{1,200}$/, ""));
  if (names.some((name) => runFolders.has(name))) return "is in a folder whose files other programs run";
  if (parts.some((part) => /[\p{Cc}\p{Zl}\p{Zp}]/u.test(part))) return "has a control character in a name";
  return undefined;
}
