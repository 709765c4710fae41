import { describe, expect, test } from "vitest";
import { collectReference, readManifests } from "../tools/docs/collect.ts";
import { collectCommands } from "../tools/docs/commands.ts";
import { checkIds, checkSources, collectSaid } from "../tools/docs/troubleshooting/collect.ts";
import { operatorErrors, repairOf, saidOf, troubleshootingPage } from "../tools/docs/troubleshooting/page.ts";
import { saidIn } from "../tools/docs/troubleshooting/said.ts";
import { symptoms } from "../tools/docs/troubleshooting/symptoms.ts";
import { readRepositoryFile } from "../tools/source/tree.ts";

const manifests = readManifests();
const ids = checkIds(manifests);
const said = collectSaid(ids);
const { errors } = await collectReference((path) => import(path));
const page = troubleshootingPage({ said, errors });
const rows = symptoms.flatMap(({ checks }) => Object.entries(checks));

describe("the page of symptoms", () => {
  test("is what the code says", () => {
    expect(readRepositoryFile("sdk/docs/guide/troubleshooting.md")).toBe(page);
  });

  test("has each check of doctor once, and no other", () => {
    expect(rows.map(([id]) => id).sort()).toEqual([...ids].sort());
    expect(ids.size).toBeGreaterThan(80);
  });

  test("says of each check what svc says, why, and what repairs it", () => {
    const empty = rows.filter(([id, check]) => [saidOf(id, check, said), check.cause, repairOf(id, check, said)].includes(""));
    expect(empty.map(([id]) => id)).toEqual([]);
  });

  test("has each error that refuses a start or names a command", () => {
    const codes = operatorErrors(errors).map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["already-listening", "lock-held", "store-too-new", "local-runtime-missing"]));
    expect(codes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
  });

  test("quotes nothing that the code does not say", () => {
    const sources = [...checkSources().values()];
    const quoted = rows.flatMap(([id, { says = "" }]) =>
      says
        .split(/<[^>]*>/)
        .filter((part) => part.trim().length > 8)
        .map((part) => ({ id, part: part.trim() })),
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter(({ part }) => !sources.some((source) => source.replaceAll('\\"', '"').includes(part)))).toEqual([]);
  });

  test("names only commands and flags that exist", async () => {
    const commands = await collectCommands(manifests, (path) => import(path));
    const named = [...page.replace(/^## Messages that refuse[\s\S]*/m, "").matchAll(/`svc ([^`]+)`/g)].map(([, line = ""]) => line);
    expect(named.length).toBeGreaterThan(60);
    const wrong = named.filter((line) => {
      const words = line.replace(/^--profile <name> /, "").split(" ");
      const command = commands
        .filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `))
        .sort((a, b) => b.name.length - a.name.length)[0];
      const flags = words.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? []);
      return command === undefined || flags.some((flag) => command.options[flag] === undefined);
    });
    expect(wrong).toEqual([]);
  });
});

test("words of a check are read from its object, and from constants before it", () => {
  const source = [
    'const ids = ["a/unused", "ab/one"];',
    "function f() {",
    "  const message = `the ${thing.name} is ${a + b}`;",
    '  return [{ id: "ab/one", message, fix: "do \\"it\\"" }];',
    "}",
  ].join("\n");
  expect(saidIn(source, new Set(["ab/one"])).get("ab/one")).toEqual({ message: "the <name> is <…>", fix: 'do "it"' });
});
