import { type SessionRow, type Store, stripFrames, type Tool, z } from "svc/sdk";
import { foreignFacts } from "./foreign.ts";
import { reachOf, type Viewer, type Visibility } from "./visible.ts";

const MAX_ROWS = 50;

const input = z.strictObject({
  limit: z.number().int().min(1).max(MAX_ROWS).optional().describe("Number of sessions, at most and by default 50"),
  search: z.string().min(1).max(200).optional().describe("Part of a key, label or title"),
});

interface Deps {
  store: Pick<Store, "sessions">;
  visibility: () => Visibility;
}

/** `sessions_list`: conversations that the agent may see, the newest first. */
export function listTool({ store, visibility }: Deps): Tool<z.output<typeof input>> {
  return {
    name: "sessions_list",
    description: "Lists conversations (sessions) that you may see, the newest first, with title, state and last words.",
    input,
    readOnly: true,
    async run({ limit = MAX_ROWS, search }, call) {
      const found = await rowsFor(store, call, { reach: reachOf(call, visibility()), limit, search });
      return foreignFacts({ sessions: found.map(shown) });
    },
  };
}

interface Wanted {
  reach: Visibility;
  limit: number;
  search: string | undefined;
}

async function rowsFor(store: Deps["store"], { agentId, sessionKey }: Viewer, { reach, limit, search }: Wanted): Promise<SessionRow[]> {
  const query = { limit, sortBy: "updatedAt" as const, ...(search === undefined ? {} : { search }) };
  if (reach === "all") return (await store.sessions.list(query)).rows;
  if (reach === "agent") return (await store.sessions.list({ ...query, agentId })).rows;
  const own = search === undefined ? await store.sessions.get(sessionKey) : undefined;
  const started = reach === "tree" ? (await store.sessions.list({ ...query, spawnedBy: sessionKey })).rows : [];
  return [...(own ? [own] : []), ...started].slice(0, limit);
}

function shown({ key, label, derivedTitle, status, updatedAt, lastMessagePreview }: SessionRow) {
  const title = label ?? derivedTitle;
  return {
    key,
    ...(title === undefined ? {} : { title: stripFrames(title) }),
    ...(status === undefined ? {} : { status }),
    updatedAt: new Date(updatedAt).toISOString(),
    ...(lastMessagePreview === undefined ? {} : { lastMessage: stripFrames(lastMessagePreview) }),
  };
}
