import { describe, expect, test } from "vitest";
import { type CollectionSources, resolveCollections } from "./collections.ts";

const plain: CollectionSources = {
  agentId: "main",
  workspace: "/home/ann/notes",
  includeDefaultMemory: true,
  paths: [],
  extraPaths: [],
  extraCollections: [],
  exportDir: undefined,
  isTranscriptFolder: () => false,
};
const of = (over: Partial<CollectionSources>) => resolveCollections({ ...plain, ...over });
const shown = (over: Partial<CollectionSources>) => of(over).collections.map(({ name, root, pattern }) => `${name} ${root} ${pattern}`);
const none = { includeDefaultMemory: false };

test("an agent's own notes are three collections, and exported transcripts one more", () => {
  expect(shown({ exportDir: "/state/sessions" })).toEqual([
    "memory-root-main /home/ann/notes MEMORY.md",
    "memory-alt-main /home/ann/notes memory.md",
    "memory-dir-main /home/ann/notes/memory **/*.md",
    "sessions-main /state/sessions **/*.md",
  ]);
  expect(of({ exportDir: "/state/sessions" }).collections.map(({ source }) => source)).toEqual(["memory", "memory", "memory", "sessions"]);
  expect(shown({ ...none, agentId: "Ops_2" })).toEqual([]);
});

test("a named folder has its name with the agent's, and outside of the workspace its own, which other agents may have too", () => {
  const paths = [
    { name: "Project X", path: "projects" },
    { name: "team", path: "/srv/team", pattern: "*.md" },
  ];
  expect(shown({ ...none, paths })).toEqual(["project-x-main /home/ann/notes/projects **/*.md", "team /srv/team *.md"]);
  expect(of({ ...none, paths }).collections.map(({ isShared }) => isShared)).toEqual([false, true]);
});

test("names that clash are numbered, those of signs alone and folders without one are custom", () => {
  const paths = [
    { name: "a", path: "/a" },
    { name: "A", path: "/b" },
    { name: "??", path: "/c" },
  ];
  expect(shown({ ...none, paths, extraPaths: ["/d", "/e/f.md"] })).toEqual([
    "a /a **/*.md",
    "a-2 /b **/*.md",
    "custom-1-main /c **/*.md",
    "custom-2-main /d **/*.md",
    "custom-3-main /e f.md",
  ]);
});

describe("duplicates", () => {
  test("a folder of the paths and of the extra collections keeps the first entry, whatever the patterns", () => {
    const found = of({
      ...none,
      paths: [{ name: "team", path: "/srv/team" }],
      extraCollections: [
        { name: "again", path: "/srv/team/", pattern: "*.txt" },
        { name: "other", path: "/srv/other" },
      ],
    });
    expect(found.collections.map(({ name }) => name)).toEqual(["team", "other"]);
    expect(found.skipped).toEqual([{ path: "/srv/team", pattern: "*.txt", keeps: "team" }]);
  });

  test("inside one list the pattern counts as well", () => {
    const paths = [
      { name: "a", path: "/srv" },
      { name: "b", path: "/srv", pattern: "*.txt" },
      { name: "c", path: "/srv" },
    ];
    expect(shown({ ...none, paths })).toEqual(["a /srv **/*.md", "b /srv *.txt"]);
    expect(of({ ...none, paths }).skipped).toEqual([{ path: "/srv", pattern: "**/*.md", keeps: "a" }]);
  });

  test("the agent's own folder is not taken twice", () => {
    expect(of({ paths: [{ name: "mine", path: "memory" }] }).skipped).toEqual([
      { path: "/home/ann/notes/memory", pattern: "**/*.md", keeps: "memory-dir-main" },
    ]);
  });
});

test("the order is: paths, extra paths, extra collections", () => {
  expect(shown({ ...none, paths: [{ name: "p", path: "/p" }], extraPaths: ["/e"], extraCollections: [{ name: "x", path: "/x" }] })).toEqual(
    ["p /p **/*.md", "custom-1-main /e **/*.md", "x /x **/*.md"],
  );
});

test("folders with transcripts of other agents hold transcripts", () => {
  const found = of({
    ...none,
    extraCollections: [{ name: "ops", path: "/state/ops" }],
    isTranscriptFolder: (path) => path === "/state/ops",
  });
  expect(found.collections.map(({ source }) => source)).toEqual(["sessions"]);
});
