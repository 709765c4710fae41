import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coreConfigSchema } from "../../kernel/config/compose-schema.ts";
import { isUnservedKey, unservedValues } from "../../kernel/config/unserved.ts";
import { type SchemaNode, schemaRows } from "../tools/docs/schema-rows.ts";
import { blank } from "../tools/source/blank.ts";
import { readersOf } from "../tools/source/config-readers.ts";
import { type LanguageServer, startLanguageServer } from "../tools/source/language-server.ts";
import { readRepositoryFile, repositoryFiles } from "../tools/source/tree.ts";
import { readElsewhere, stillRead } from "./every-key-has-a-reader.table.ts";

/** A busy machine takes its time to understand the whole repository. */
const LIMIT_MS = 300_000;

const keys = schemaRows(coreConfigSchema() as SchemaNode).map((row) => row.path);
const stepsOf = (key: string) => key.replaceAll("<name>", "*").replaceAll("[]", ".*").split(".");
const isRefused = (key: string) => isUnservedKey(stepsOf(key));
/** Of such a key only the value that is in force anyway can be written. */
const hasRefusedValues = (key: string) => unservedValues(stepsOf(key)).length > 0;
const elsewhere = (key: string) => Object.entries(readElsewhere).filter(([pattern]) => key === pattern || key.startsWith(`${pattern}.`));

let server: LanguageServer;
let readers: Map<string, string[]>;
beforeAll(async () => {
  server = await startLanguageServer();
  readers = await readersOf(keys, server);
}, LIMIT_MS);
afterAll(() => server.close());

const without = (among: readonly string[], found = readers) => among.filter((key) => found.get(key)?.length === 0);

describe("every documented config key", () => {
  test("is read by code, or refused as not part of this release", () => {
    const served = keys.filter((key) => !isRefused(key) && !hasRefusedValues(key));
    expect(without(served).filter((key) => elsewhere(key).length === 0)).toEqual([]);
  });

  test("that is refused is read by nobody: its line goes when something reads it", () => {
    const refused = keys.filter(isRefused);
    expect(refused.filter((key) => (readers.get(key) ?? []).length > 0)).toEqual(Object.keys(stillRead));
  });

  test("loses its place when its reader is gone", async () => {
    const [path = "", ...others] = readers.get("gateway.shutdown.drainMs") ?? [];
    expect(others).toEqual([]);
    server.open(path, readRepositoryFile(path).replaceAll(".drainMs", ".toString()"));
    const found = await readersOf(["gateway.shutdown.drainMs", "gateway.publicOrigin"], server);
    expect(without([...found.keys()], found)).toEqual(["gateway.shutdown.drainMs"]);
  });
});

describe("a key that is read where the compiler cannot follow it", () => {
  test.each(Object.entries(readElsewhere))("%s is", (pattern, { file, code }) => {
    expect(repositoryFiles()).toContain(file);
    expect(blank(readRepositoryFile(file))).toContain(code);
    const named = keys.filter((key) => key === pattern || key.startsWith(`${pattern}.`));
    expect(named.length, "it is documented").toBeGreaterThan(0);
    expect(named.filter(isRefused), "it is not refused").toEqual([]);
    expect(without(named).length, "the compiler does not know its reader").toBeGreaterThan(0);
  });
});
