import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadCommand, readCommands } from "../../kernel/cli/commands.ts";
import { gatewayCommand } from "../../kernel/cli/gateway-command.ts";
import { commandHelp } from "../../kernel/cli/help.ts";
import { type CommandEntry, matchCommand } from "../../kernel/cli/match.ts";
import { parseCommand } from "../../kernel/cli/parse-command.ts";
import { takeRootFlags } from "../../kernel/cli/root-flags.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import type { CliCommand } from "../../sdk/types/cli.ts";

const env = { HOME: join(import.meta.dirname, "no-such-home") };
const where = { paths: resolvePaths({ env }), env };
let entries: CommandEntry[];
let commands: Array<{ name: string; command: CliCommand }>;
beforeAll(async () => {
  entries = await readCommands(where.paths);
  commands = await Promise.all(entries.map(async (entry) => ({ name: entry.words.join(" "), command: await load(entry) })));
});

async function load(entry: CommandEntry): Promise<CliCommand> {
  const { module } = entry;
  if (module !== undefined) return loadCommand({ ...entry, module }, where);
  const none = () => Promise.reject(new Error("nothing is started here"));
  return gatewayCommand({ path: entry.words, logLevel: undefined, announce: undefined, output: undefined, maker: none });
}

/** Commands as a text names them: the words behind `svc`, and its own flags between them. */
function namedIn(text: string): string[] {
  return [...text.matchAll(/\bsvc((?: --?[a-z][\w-]*(?: (?=--)|=\S+)?)* [a-z][\w-]*(?: [a-z][\w-]*)*)/g)].map(([, words]) =>
    (words as string).trim(),
  );
}

/** A command that can be typed. A group such as `svc sessions` cannot: it only says what else to type. */
function isCommand(words: string): boolean {
  return matchCommand(entries, takeRootFlags(words.split(" ")).rest).kind === "command";
}

/** Words that go on with a sentence about svc, and are no command that was misspelt either. */
function isProse(words: string): boolean {
  const match = matchCommand(entries, words.split(" "));
  return match.kind === "unknown" && match.suggestion === undefined && !entries.some((entry) => entry.words[0] === words.split(" ")[0]);
}

/** The commands of a shell line, as words with their quotes taken off; what follows a pipe or a redirection is somebody else's. */
function commandsOf(line: string): string[][] {
  return line.split(" && ").map((part) => {
    const words = [...part.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s'"|>]+)+|[|>]/g)].map(([word]) => word);
    const end = words.findIndex((word) => word === "|" || word === ">");
    return words.slice(0, end === -1 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
  });
}

/** Reasons to refuse the command line before anything is done. */
function problemOf(argv: readonly string[]): string[] {
  const match = matchCommand(entries, takeRootFlags(argv).rest);
  const found = match.kind === "command" ? commands.find(({ name }) => name === match.entry.words.join(" ")) : undefined;
  if (match.kind !== "command" || !found) return ["no such command"];
  try {
    parseCommand(found.command, match.args);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

describe("the help of every command", () => {
  test("names only commands that there are", () => {
    const wrong = commands.flatMap(({ name, command }) => {
      const text = commandHelp(command)
        .replace(/^svc .*$/m, "")
        .replace(/^Usage: .*$/m, "");
      return namedIn(text)
        .filter((words) => !isCommand(words) && !isProse(words))
        .map((words) => `svc ${name} --help: svc ${words}`);
    });
    expect(wrong).toEqual([]);
  });

  test("has examples that the command itself would take", () => {
    const wrong = commands.flatMap(({ name, command }) =>
      (command.examples ?? []).flatMap(([, line]) =>
        commandsOf(line)
          .filter(([program]) => program === "svc")
          .flatMap(([, ...argv]) => problemOf(argv).map((problem) => `svc ${name} --help: ${line}: ${problem}`)),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("says in one line what it does, as the list of commands does", () => {
    for (const { name, command } of commands) {
      expect(command.summary, name).toMatch(/^[A-Z][^\n]*[^.\n]$/);
      expect(entries.find(({ words }) => words.join(" ") === name)?.description, name).not.toBe("");
    }
  });
});

test("a text that names no command, or only a group of them, is noticed", () => {
  expect(namedIn("is stopped by svc sessions or in the chat; see svc gateway status")).toEqual([
    "sessions or in the chat",
    "gateway status",
  ]);
  expect(["sessions", "hooks pause", "gatewy", "hooks list", "--profile=work gateway", "gateway"].map(isCommand)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
});
