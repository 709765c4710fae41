import { blank } from "./blank.ts";

export interface Finding {
  file: string;
  line: number;
  text: string;
}

/** Where the environment may be read: everywhere else a value arrives as a parameter, so that tests need not change the process. */
const envReaders = /^kernel\/(config|cli)\/|^kernel\/bin\.ts$|^plugins\/[^/]+\/(?:.*\/)?env\.ts$/;

/** Reads of the environment in product code outside the files made for it. */
export function environmentReads(file: string, source: string): Finding[] {
  if (envReaders.test(file)) return [];
  return matches(
    file,
    blank(source, { strings: true, templates: false }),
    /\bprocess\.env\b|\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\s*"\s*"/g,
  );
}

/** Calls of the console in product code; output goes through the logger or the command's context. */
export function consoleUses(file: string, source: string): Finding[] {
  return matches(file, blank(source, { strings: true, templates: true }), /\bconsole\s*[.[]/g);
}

/** Files that the loader and the commands import by path; pages of the control UI are imported when they are opened. */
const entries = /^plugins\/[^/]+\/(?:index|protocol|sections|cli\/[^/]+)\.ts$|^plugins\/control-ui\/public\/(?:views|ui)\//;

/** Default exports outside entries: a name that every importer may choose cannot be searched for. */
export function defaultExports(file: string, source: string): Finding[] {
  if (entries.test(file)) return [];
  const code = blank(source, { strings: true, templates: true });
  return matches(file, code, /\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/g);
}

/** Where files are written in another way than whole: each with its reason. */
const ownWriters = new Map([
  ["sdk/files.ts", "it writes files whole for everybody else"],
  ["kernel/process/files-sync.ts", "it does the same for the watchdog's thread"],
  ["kernel/process/lock.ts", "of two that make a lock file, one has to fail"],
  ["kernel/process/log-file.ts", "a log grows at its end"],
]);

/** Writes of files past `writeFileAtomic`, after which a crash leaves half a file. */
export function plainFileWrites(file: string, source: string): Finding[] {
  if (ownWriters.has(file) || /^sdk\/testing\/|\/testing\/|\/test-[^/]+\.ts$/.test(file)) return [];
  const code = blank(source, { strings: true, templates: false });
  return matches(file, code, /(?<![.\w])(?:writeFile|appendFile|writeFileSync|appendFileSync|createWriteStream)\((?!path: string)/g);
}

/** Where the wall clock is compared with times that another process wrote down, or an earlier visit of the page. */
const foreignTimes = new Set(["plugins/operator/status/lines.ts", "plugins/control-ui/public/core/outbox.js"]);

/** Durations by the wall clock, which somebody may set meanwhile. Times of files are by that clock too and may be compared with it. */
export function wallClockDurations(file: string, source: string): Finding[] {
  if (foreignTimes.has(file)) return [];
  const code = blank(source, { strings: true, templates: false })
    .split("\n")
    .map((line) => (line.includes("mtimeMs") ? "" : line))
    .join("\n");
  return matches(file, code, /\bDate\.now\(\)\s*(?:[-+<]|>=?)|(?:[-+<]|(?<!=)>|[<>]=)\s*Date\.now\(\)/g);
}

/** Marks of unfinished work, and numbers of issues: what is known to be missing is said where it is planned, not in the code. */
export function unfinishedMarks(file: string, source: string): Finding[] {
  return matches(file, source, /\b(?:TO[D]O|FIX[M]E|HA[C]K|XX[X])\b|\b[Ii]ssue #?\d+\b/g);
}

/** Modules of ours that a test replaces: what it then proves is that the replacement works. */
export function moduleMocks(file: string, source: string): Finding[] {
  return matches(file, blank(source, { strings: true, templates: true }), /\bvi\s*\.\s*(?:mock|doMock|hoisted)\b/g);
}

/** Regular expressions as values inside `toMatchObject`, where any value matches them; `expect.stringMatching` is meant. */
export function emptyMatches(file: string, source: string): Finding[] {
  const code = blank(source, { strings: true, templates: true });
  return [...code.matchAll(/\.toMatchObject\(/g)].flatMap((call) => {
    const start = call.index + call[0].length;
    const inside = code.slice(start, closing(code, start));
    return [...inside.matchAll(/[:[,]\s*(\/\s*\/[a-z]*)(?=\s*[,}\]])/g)].map((m) => ({
      file,
      line: code.slice(0, start + m.index).split("\n").length,
      text: "a regular expression",
    }));
  });
}

const exported = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/;

/** Exports without a doc comment, by their names. */
export function undocumentedExports(file: string, source: string): Finding[] {
  const lines = source.split("\n");
  return lines.flatMap((line, i) => {
    const name = exported.exec(line)?.[1];
    const above = lines.slice(0, i).findLast((one) => !one.startsWith("// biome-ignore"));
    return name === undefined || above?.trimEnd().endsWith("*/") ? [] : [{ file, line: i + 1, text: name }];
  });
}

/** Index of the bracket that closes what was opened before `from`. */
function closing(code: string, from: number): number {
  let depth = 1;
  let i = from;
  for (; i < code.length && depth > 0; i += 1) depth += code[i] === "(" ? 1 : code[i] === ")" ? -1 : 0;
  return i;
}

/** Files that say by their name that nobody knows what belongs into them, and lists of exports that nobody publishes. */
export function shapelessFiles(paths: readonly string[]): string[] {
  const published = /^sdk\/(?:client\/|internal\/|testing\/)?index\.ts$|^(?:plugins\/[^/]+|examples\/.+)\/index\.ts$/;
  return paths.filter(
    (path) => /(?:^|\/)(?:utils?|helpers?|misc)\.\w+$/.test(path) || (/\/index\.ts$/.test(path) && !published.test(path)),
  );
}

/** Tests that do not run, or that keep others from running. */
export function disabledTests(file: string, source: string): Finding[] {
  const code = blank(source, { strings: true, templates: true });
  return matches(file, code, /\b(?:test|it|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b|\bcontext\.skip\(/g);
}

/** Tables of short entries, several to a line. */
const wideTables = new Set(["sdk/text/html-entity.ts"]);

/** Object literals spread into literals: nothing is merged, the formatter is kept from breaking the line, and wrong properties are not found. */
export function literalSpreads(file: string, source: string): Finding[] {
  if (wideTables.has(file)) return [];
  return matches(file, blank(source, { strings: true, templates: true }), /\.\.\.\{/g);
}

function matches(file: string, code: string, pattern: RegExp): Finding[] {
  return [...code.matchAll(pattern)].map((m) => ({
    file,
    line: code.slice(0, m.index).split("\n").length,
    text: m[0],
  }));
}
