import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dirname, join as joinPosix } from "node:path/posix";

const root = join(import.meta.dirname, "../../..");
const folders = ["kernel", "sdk", "plugins", "test/kernel", "test/sdk", "test/contracts"];

/** Module that starts a gateway: a test file that reaches it by imports boots one, everything else only computes. */
export const gatewayModule = "kernel/boot/gateway.ts";

/** Published names as files. `svc/sdk/testing` offers `createTestGateway` beside small helpers, so it counts name by name. */
const published: Readonly<Record<string, string>> = { "svc/sdk": "sdk/index.ts", "svc/sdk/client": "sdk/client/index.ts" };
const testingEntry = "sdk/testing/index.ts";

/**
 * Sorts the test files of the layers by what they import: `gateway` files may boot one, `plain` files cannot.
 * The line patterns below rely on the formatter; `test/meta/test-kinds.test.ts` compares the result with the scanner of the architecture rules.
 */
export function testKinds(): { plain: string[]; gateway: string[] } {
  const kinds = { plain: [] as string[], gateway: [] as string[] };
  const reaches = createReach();
  for (const file of folders.flatMap(testFilesIn)) kinds[reaches(file) ? "gateway" : "plain"].push(file);
  if (!reaches(testingEntry)) throw new Error(`${testingEntry} reaches no ${gatewayModule}; has the module been renamed?`);
  return kinds;
}

function testFilesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".test.ts") && !path.includes("/node_modules/"))
    .sort();
}

/** Answers whether a file reaches the gateway; each file is read once. */
function createReach(): (file: string) => boolean {
  const targets = new Map<string, string[]>();
  const read = (file: string) => {
    const known = targets.get(file) ?? importedFiles(file);
    targets.set(file, known);
    return known;
  };
  return (file) => {
    const seen = new Set<string>();
    const queue = [file];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === gatewayModule) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(...read(next));
    }
    return false;
  };
}

/** Files that a module needs at run time, dynamic imports included. */
function importedFiles(file: string): string[] {
  const text = readText(file);
  if (text === undefined) return [];
  const found: string[] = [];
  for (const [, names, specifier = ""] of text.matchAll(/^(?:import|export) (?!type )(?:([^"';]*?) from )?"([^"]+)"/gm)) {
    if (specifier === "svc/sdk/testing") found.push(...testingFiles(names ?? ""));
    else found.push(...resolved(file, specifier));
  }
  for (const [, specifier = ""] of text.matchAll(/\bimport\("([^"]+)"\)(?!\.[A-Z])/g)) {
    found.push(...(specifier === "svc/sdk/testing" ? [testingEntry] : resolved(file, specifier)));
  }
  return found;
}

function resolved(file: string, specifier: string): string[] {
  if (specifier.startsWith(".")) return [joinPosix(dirname(file), specifier)];
  const own = published[specifier];
  return own ? [own] : [];
}

/** Files behind the names of an import clause of `svc/sdk/testing`; types are none. */
function testingFiles(clause: string): string[] {
  const list = /^\{([^}]*)\}$/.exec(clause.trim())?.[1];
  if (list === undefined) return [testingEntry];
  const places = testingExports();
  return namesOf(list).map((name) => places.get(name) ?? testingEntry);
}

let testingPlaces: Map<string, string> | undefined;

function testingExports(): Map<string, string> {
  if (testingPlaces) return testingPlaces;
  testingPlaces = new Map();
  for (const [, list = "", specifier = ""] of (readText(testingEntry) ?? "").matchAll(/^export (?!type )\{([^}]*)\} from "([^"]+)"/gm)) {
    for (const name of namesOf(list)) testingPlaces.set(name, joinPosix(dirname(testingEntry), specifier));
  }
  return testingPlaces;
}

function namesOf(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(" as ")[0] as string);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    return undefined;
  }
}
