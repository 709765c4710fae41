import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import type { CliContext } from "../../sdk/types/cli.ts";
import { rootSchema } from "../config/root-schema.ts";
import { type GatewayLogs, openLogs } from "./gateway-logs.ts";

type Logging = NonNullable<SvcConfigInput["logging"]>;

const color = Object.fromEntries(
  ["bold", "dim", "red", "green", "yellow", "cyan"].map((name) => [name, (text: string) => `<${name}>${text}`]),
) as unknown as CliContext["color"];

let stateDir: string;
let logs: GatewayLogs | undefined;
const everyLogs: GatewayLogs[] = [];
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-logs-"));
});
afterEach(async () => {
  await Promise.all(everyLogs.splice(0).map((each) => each.close()));
  logs = undefined;
  await rm(stateDir, { recursive: true, force: true });
});

interface Start {
  configured?: Logging;
  env?: Record<string, string>;
  isTTY?: boolean;
  flags?: { level?: "debug" | "error"; verbose?: boolean };
}

function start({ configured, env = {}, isTTY = false, flags = {} }: Start) {
  let shown = "";
  const write = (text: string) => {
    shown += text;
  };
  const stderr = { write, line: (text = "") => write(`${text}\n`), isTTY };
  const config = (logging: Logging) => rootSchema.parse({ logging });
  const opened = openLogs(
    { env, paths: { stateDir } as CliContext["paths"], stderr, color },
    { level: flags.level, verbose: flags.verbose === true, configured: configured && config(configured).logging },
  );
  logs = opened;
  everyLogs.push(opened);
  return {
    logger: opened.logger,
    /** Puts another config in force. */
    change: (logging: Logging) => opened.follow({ config: () => config(logging) }),
    onConsole: () => shown,
    async inFile() {
      await opened.close();
      const names = await readdir(join(stateDir, "logs")).catch(() => []);
      return (await Promise.all(names.map((name) => readFile(join(stateDir, "logs", name), "utf8")))).join("");
    },
  };
}

function speak({ logger }: { logger: GatewayLogs["logger"] }) {
  logger.debug("a detail");
  logger.info("a fact");
  logger.warn("a warning");
}
const said = (text: string) => ["detail", "fact", "warning"].filter((word) => text.includes(word)).join(" ");

describe("who decides about the levels", () => {
  test.each<[string, Start, file: string, console: string]>([
    ["nobody", {}, "fact warning", "fact warning"],
    ["the config, each for itself", { configured: { level: "debug", consoleLevel: "warn" } }, "detail fact warning", "warning"],
    ["SVC_LOG_LEVEL over the config", { configured: { level: "silent" }, env: { SVC_LOG_LEVEL: "warn" } }, "warning", "warning"],
    [
      "--log-level over SVC_LOG_LEVEL",
      { env: { SVC_LOG_LEVEL: "silent" }, flags: { level: "debug" } },
      "detail fact warning",
      "detail fact warning",
    ],
    ["--verbose, for the console only", { env: { SVC_LOG_LEVEL: "warn" }, flags: { verbose: true } }, "warning", "detail fact warning"],
  ])("%s", async (_who, how, file, console) => {
    const running = start(how);
    speak(running);
    expect(said(running.onConsole())).toBe(console);
    expect(said(await running.inFile())).toBe(file);
  });

  test("not a variable that names no level: that is told", async () => {
    const running = start({ env: { SVC_LOG_LEVEL: "loud" } });
    speak(running);
    expect(running.onConsole()).toContain('SVC_LOG_LEVEL: "loud" is no level');
    expect(said(running.onConsole())).toBe("fact warning");
  });
});

test("a terminal gets coloured, padded lines; anything else compact ones; the config may want json", () => {
  for (const [isTTY, line] of [
    [true, " <yellow>warn  [gateway] a warning\n"],
    [false, " warn [gateway] a warning\n"],
  ] as const) {
    const running = start({ isTTY });
    running.logger.warn("a warning");
    expect(running.onConsole().slice(8)).toBe(line);
  }
  const json = start({ configured: { consoleStyle: "json" } });
  json.logger.warn("a warning");
  expect(JSON.parse(json.onConsole())).toMatchObject({ level: "warn", msg: "a warning" });
});

test("every setting of a new config counts from the next line on", async () => {
  const running = start({ configured: { redactPatterns: ["acme-1"] } });
  running.logger.info("acme-1 acme-2");
  running.change({ level: "debug", consoleLevel: "warn", consoleStyle: "json", redactPatterns: ["acme-2"], file: "logs/other.log" });
  running.logger.debug("acme-1 acme-2");
  running.logger.warn("acme-3");
  await running.inFile();

  expect(running.onConsole()).toMatch(/^\S+ info \[gateway\] \[redacted\] acme-2\n\{.*"msg":"acme-3".*\}\n$/);
  const [daily, ...others] = (await readdir(join(stateDir, "logs"))).sort();
  expect(others).toEqual(["other.log"]);
  expect(await readFile(join(stateDir, "logs", daily ?? ""), "utf8")).toContain('"msg":"[redacted] acme-2"');
  expect(await readFile(join(stateDir, "logs/other.log"), "utf8")).toMatch(/"msg":"acme-1 \[redacted\]".*\n.*"msg":"acme-3"/);
});

test("a storm of the same line is told in a few", async () => {
  const running = start({});
  for (let i = 0; i < 50; i++) running.logger.warn("again");
  expect(
    (await running.inFile())
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).repeated),
  ).toEqual([...Array.from({ length: 5 }, () => undefined), 45]);
});

test("what the file cannot take is told on the console", async () => {
  const running = start({ configured: { file: stateDir } });
  running.logger.info("a fact");
  await logs?.close();
  expect(running.onConsole()).toContain(`log file ${stateDir} cannot be written: it is no regular file`);
});
