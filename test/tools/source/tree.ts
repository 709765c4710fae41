import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const repositoryRoot = join(import.meta.dirname, "../../..");

let listed: string[] | undefined;

/** Paths of everything git tracks or would track, with `/`, relative to the root. */
export function repositoryFiles(): string[] {
  listed ??= execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  })
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(repositoryRoot, path)))
    .sort();
  return listed;
}

export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

/** Path → text of the files a test is about. */
export function readRepositoryFiles(select: (path: string) => boolean): Map<string, string> {
  return new Map(
    repositoryFiles()
      .filter(select)
      .map((path) => [path, readRepositoryFile(path)]),
  );
}

/** Code of the product: the three layers without tests, fixtures and vendored files. */
export function isProductCode(path: string): boolean {
  return /^(kernel|sdk|plugins)\/.*\.(ts|js|mjs)$/.test(path) && !/\.test\.ts$|\.d\.ts$|\/vendor\/|\/fixtures\//.test(path);
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
