import { homedir } from "node:os";
import { join } from "node:path";
import { rootSchema, type SvcConfigInput } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { resolveMemorySettings, sharedStoreIssues } from "./settings.ts";

const resolve = (config: SvcConfigInput = {}) => resolveMemorySettings(rootSchema.parse(config), "/state");
type MemorySearch = NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"];
const one = (memorySearch: MemorySearch) => resolve({ agents: { defaults: { memorySearch } } })[0];

test("without any config there is one agent with the documented defaults", () => {
  expect(resolve()).toEqual([
    {
      agentId: "main",
      isDefault: true,
      enabled: true,
      requestedProvider: "auto",
      index: {
        agentId: "main",
        workspace: "/state/workspace",
        dbPath: "/state/memory/main.sqlite",
        extraPaths: [],
        chunking: { tokens: 400, overlap: 80 },
        tokenizer: "unicode61",
        watchDebounceMs: 1500,
      },
      query: { maxResults: 6, minScore: 0.35, candidateMultiplier: 4 },
      limits: { maxSnippetChars: 700, maxInjectedChars: undefined, timeoutMs: 4000 },
      sync: { watch: true, onSessionStart: true, onSearch: true, intervalMinutes: 0 },
      citations: "auto",
      sharedWith: [],
    },
  ]);
});

test("an agent's value wins field by field, extra paths are those of both without repeats", () => {
  const [, work] = resolve({
    agents: {
      defaults: { memorySearch: { query: { minScore: 0.5 }, sync: { watch: false, onSearch: false }, extraPaths: ["docs", " /team "] } },
      list: [
        { id: "main", default: true },
        { id: "work", memorySearch: { query: { maxResults: 9 }, sync: { onSearch: true }, extraPaths: ["/team/", "~/more", "docs"] } },
      ],
    },
  });
  expect(work?.query).toEqual({ maxResults: 9, minScore: 0.5, candidateMultiplier: 4 });
  expect(work?.sync).toMatchObject({ watch: false, onSearch: true });
  expect(work?.index.extraPaths).toEqual(["/state/workspace-work/docs", "/team", join(homedir(), "more")]);
});

test("the specified name of a limit wins over its alias", () => {
  expect(one({ query: { maxResults: 3 } })?.query.maxResults).toBe(3);
  expect(one({ query: { maxResults: 3 }, limits: { maxResults: 8 } })?.query.maxResults).toBe(8);
});

test("the overlap stays below the chunk size", () => {
  expect(one({ chunking: { tokens: 10, overlap: 50 } })?.index.chunking).toEqual({ tokens: 10, overlap: 9 });
});

describe("store.path", () => {
  const list = [{ id: "main" }, { id: "work" }];
  const paths = (path: string) => resolve({ agents: { defaults: { memorySearch: { store: { path } } }, list } }).map((s) => s.index.dbPath);

  test.each([
    ["/x/{agentId}/{agentId}.db", ["/x/main/main.db", "/x/work/work.db"]],
    ["~/m/{agentId}.db", [join(homedir(), "m/main.db"), join(homedir(), "m/work.db")]],
    ["m/{agentId}.db", ["/state/m/main.db", "/state/m/work.db"]],
  ])("%s", (path, wanted) => expect(paths(path)).toEqual(wanted));

  test("shared by two agents is one issue that names both and the way out", () => {
    const shared = resolve({ agents: { defaults: { memorySearch: { store: { path: "/x/all.db" } } }, list } });
    expect(shared.map((s) => s.sharedWith)).toEqual([["work"], ["main"]]);
    expect(sharedStoreIssues(shared)).toEqual([
      { path: "agents.defaults.memorySearch.store.path", message: expect.stringMatching(/main, work share .*\/x\/all\.db.*\{agentId\}/) },
    ]);
  });

  test("may be shared when one of them has memory off", () => {
    const settings = resolve({
      agents: {
        defaults: { memorySearch: { store: { path: "/x/all.db" } } },
        list: [{ id: "main" }, { id: "work", memorySearch: { enabled: false } }],
      },
    });
    expect(sharedStoreIssues(settings)).toEqual([]);
  });
});
