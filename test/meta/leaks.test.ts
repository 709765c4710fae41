import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { leaksIn, lockfileAddresses } from "../tools/source/leak-patterns.ts";
import { readRepositoryFile, repositoryFiles, repositoryRoot } from "../tools/source/tree.ts";

/** This checkout and this user's folder, when they are more than a bare root. */
const ownPaths = [repositoryRoot, homedir()].filter((path) => path.split("/").filter(Boolean).length > 1);

const isText = (text: string) => !text.slice(0, 8_000).includes("\0");

describe("the repository", () => {
  test("names no build machine, no registry and no other product", () => {
    const files = repositoryFiles().filter((path) => path !== "package-lock.json");
    expect(files.length).toBeGreaterThan(100);

    const found = files.flatMap((path) => {
      const text = readRepositoryFile(path);
      return isText(text) ? leaksIn(path, text, ownPaths) : [];
    });
    expect(found).toEqual([]);
  });

  test("gives none of its files a name of those", () => {
    expect(repositoryFiles().flatMap((path) => leaksIn("file name", path))).toEqual([]);
  });

  test("has a lockfile without addresses", () => {
    expect(lockfileAddresses(readRepositoryFile("package-lock.json"))).toEqual([]);
  });
});

describe("a leak is caught in", () => {
  const path = (...parts: string[]) => ["", ...parts].join("/");

  test.each([
    ["a comment with a build path", `// see ${path("work", "main", "kernel")}`],
    ["a string with a user's folder", `const a = "${path("root", ".svc", "svc.json")}";`],
    ["an address of a registry", `https://${["registry", "npmjs", "org"].join(".")}/zod`],
    ["a mirror inside a company", `https://${["npm", "corp", "internal"].join(".")}/zod`],
    ["a name of another product, in any case", `as ${["Open", "Claw"].join("")} does`],
  ])("%s", (_name, text) => {
    expect(leaksIn("file.ts", text)).toHaveLength(1);
  });

  test("any text with the path of this checkout", () => {
    expect(leaksIn("file.ts", "see /srv/checkout/main/x.ts", ["/srv/checkout/main"])).toMatchObject([{ line: 1 }]);
  });

  test("a lockfile with an address", () => {
    expect(lockfileAddresses('{ "resolved": "https://example.net/zod.tgz" }')).toEqual(["https://example.net/zod.tgz"]);
    expect(lockfileAddresses('{ "resolved": "plugins/x/vendor", "link": true }')).toEqual([]);
  });

  test.each([
    ["ordinary words", "the work/life balance; root/branch"],
    ["a relative folder", "test/work/file.ts and ./root/x"],
    ["an address with such a part", "https://example.net/work/x"],
  ])("and none in %s", (_name, text) => {
    expect(leaksIn("file.ts", text)).toEqual([]);
  });
});
