import { describe, expect, test } from "vitest";
import { blank } from "../tools/source/blank.ts";
import { closureOf, graphOf, targetOf } from "../tools/source/boundaries.ts";
import { gatewayModule, testKinds } from "../tools/source/test-kinds.ts";
import { isTest, readRepositoryFile, readRepositoryFiles, repositoryFiles } from "../tools/source/tree.ts";

const kinds = testKinds();
const sources = readRepositoryFiles((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
/** Dynamic imports count like the others; the published names stand for their files. */
const graph = new Map(
  [...graphOf(sources)].map(([file, imports]) => [
    file,
    imports.map((one) => ({
      ...one,
      dynamic: false,
      specifier: one.specifier === "svc/sdk" ? relativeTo(file, "sdk/index.ts") : one.specifier,
    })),
  ]),
);

describe("the test files of the layers", () => {
  test("are all sorted, each once", () => {
    const all = repositoryFiles().filter((path) => isTest(path) && /^(kernel|sdk|plugins|test\/(kernel|sdk|contracts))\//.test(path));
    expect([...kinds.plain, ...kinds.gateway].sort()).toEqual(all);
    expect(Math.min(kinds.plain.length, kinds.gateway.length)).toBeGreaterThan(50);
  });

  test("that share a process reach no module that starts a gateway", () => {
    const starters = namesThatReachTheGateway();
    expect(starters).toContain("createTestGateway");
    const mention = new RegExp(`\\b(?:${starters.join("|")})\\b`);
    const found = kinds.plain.flatMap((file) => {
      const needed = [...closureOf(graph, file)];
      const start = needed.find((path) => path === gatewayModule || (importsTesting(path) && mention.test(code(path))));
      return start ? [`${file} by ${start}`] : [];
    });
    expect(found).toEqual([]);
  });
});

function code(path: string): string {
  return blank(sources.get(path) ?? "");
}

function importsTesting(path: string): boolean {
  return (graph.get(path) ?? []).some(({ specifier, typeOnly }) => specifier === "svc/sdk/testing" && !typeOnly);
}

/** Names of `svc/sdk/testing` whose modules reach the gateway. */
function namesThatReachTheGateway(): string[] {
  const entry = "sdk/testing/index.ts";
  return [...readRepositoryFile(entry).matchAll(/^export \{([^}]*)\} from "([^"]+)"/gm)].flatMap(([, names = "", specifier = ""]) =>
    closureOf(graph, targetOf(entry, specifier)).has(gatewayModule)
      ? names
          .split(",")
          .map((name) => name.trim())
          .filter((name) => !name.startsWith("type "))
      : [],
  );
}

function relativeTo(file: string, target: string): string {
  return `./${"../".repeat(file.split("/").length - 1)}${target}`;
}
