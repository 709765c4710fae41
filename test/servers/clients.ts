import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { skippedFor } from "./needs.ts";

/**
 * `describe` and `test` for tests that need client libraries of a folder of their own: skipped, each by its name, where one is not installed.
 * @throws {Error} where CI is set: `.ci/run` installs them
 */
export function needsClients(folder: string): { describe: typeof describe; test: typeof test } {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(folder, "node_modules", name, "package.json")));
  if (missing.length === 0) return { describe, test };
  const need = `${missing.join(" and ")}: npm ci --prefix test/clients --ignore-scripts`;
  if (process.env.CI) throw new Error(`client libraries are missing, and .ci/run installs them (${need})`);
  return skippedFor(need);
}

/**
 * `test` for what needs the libraries of `test/clients/python/requirements.txt`: of the Python that `SVC_TEST_PYTHON` names, else of `python3`. Skipped by name where
 * one is not installed in its version; nothing installs them by itself.
 */
export function needsPython(folder: string): { python: string; version: string; test: typeof test } {
  const python = process.env.SVC_TEST_PYTHON ?? "python3";
  const [name = "", version = ""] = readFileSync(join(folder, "requirements.txt"), "utf8").trim().split("==");
  const asks = ["-c", `import importlib.metadata; print(importlib.metadata.version(${JSON.stringify(name)}))`];
  const found = spawnSync(python, asks, { encoding: "utf8", timeout: 10_000 }).stdout?.trim();
  if (found === version) return { python, version, test };
  const need = `${name} ${version} for Python: pip install -r test/clients/python/requirements.txt, and SVC_TEST_PYTHON for a Python of its own`;
  return { python, version, test: skippedFor(need).test };
}
