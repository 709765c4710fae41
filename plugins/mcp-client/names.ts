import { createHash } from "node:crypto";

const MAX_CHARS = 64;
const HASH_CHARS = 8;

/** One tool of one server, by the server's own name of it. */
export interface ForeignTool {
  server: string;
  tool: string;
}

/**
 * Names under which agents know the tools: `mcp_<server>_<tool>` in small letters, digits and underscores. A name that is too long, or that stands for more than
 * one tool or is `reserved`, ends in a hash of server and tool, so that it is the same whatever other tools come and go beside it. Two tools that even then share
 * a name: the first has it, the other has none. Pure.
 */
export function agentNames(tools: readonly ForeignTool[], reserved: readonly string[] = []): Array<string | undefined> {
  const plain = tools.map(({ server, tool }) => `mcp_${plainWord(server)}_${plainWord(tool)}`);
  const counts = new Map<string, number>(reserved.map((name) => [name, 1]));
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set<string>(reserved);
  return tools.map((tool, i) => {
    const name = plain[i] as string;
    const isFine = name.length <= MAX_CHARS && counts.get(name) === 1;
    const made = isFine ? name : `${name.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hashOf(tool)}`;
    if (taken.has(made)) return undefined;
    taken.add(made);
    return made;
  });
}

function plainWord(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9_]/g, "_");
}

function hashOf({ server, tool }: ForeignTool): string {
  return createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, HASH_CHARS);
}
