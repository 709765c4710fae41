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

/** Tests that do not run, or that keep others from running. */
export function disabledTests(file: string, source: string): Finding[] {
  const code = blank(source, { strings: true, templates: true });
  return matches(file, code, /\b(?:test|it|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b|\bcontext\.skip\(/g);
}

function matches(file: string, code: string, pattern: RegExp): Finding[] {
  return [...code.matchAll(pattern)].map((m) => ({
    file,
    line: code.slice(0, m.index).split("\n").length,
    text: m[0],
  }));
}
