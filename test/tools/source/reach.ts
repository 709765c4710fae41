import { dirname, join } from "node:path/posix";
import { blank } from "./blank.ts";

/** A name that a module takes from another; `*` for all of it. */
interface Taken {
  file: string;
  name: string;
}

const clause = /\b(import|export)\s+(?:type\s+)?((?:[\w$]+\s*,?\s*)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^{}]*\})?)\s*from\s*"(\.[^"\n]+)"/g;
const call = /\bimport\(\s*"(\.[^"\n]+)"\s*\)(?:\s*\.\s*([A-Z]\w*))?/g;
const thread = /\bworkerUrl\(import\.meta\.url,\s*"([^"\n]+)"\)/g;
const declared =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|let|interface|type)\s+([A-Za-z_$][\w$]*)/gm;

/**
 * Parts of a tree that no entry needs: files that none of them imports, types and threads included, and exported names that no entry publishes, no file
 * they need takes, and their own file does not use.
 * @param files path → text of every file of the tree
 */
export function unreached(files: ReadonlyMap<string, string>, entries: readonly string[]): string[] {
  const read = (file: string) => takenBy(file, files.get(file) ?? "");
  const reached = new Set<string>();
  const queue = [...entries];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file) || !files.has(file)) continue;
    reached.add(file);
    queue.push(...read(file).map((one) => one.file));
  }
  const used = new Set<string>();
  for (const file of reached) {
    for (const one of read(file)) {
      for (const name of one.name === "*" ? namesOf(files.get(one.file) ?? "") : [one.name]) used.add(`${one.file} ${name}`);
    }
  }
  for (const entry of entries) for (const name of namesOf(files.get(entry) ?? "")) used.add(`${entry} ${name}`);
  const idle = [...reached].flatMap((file) =>
    namesOf(files.get(file) ?? "")
      .filter((name) => !used.has(`${file} ${name}`) && !usesItself(files.get(file) ?? "", name))
      .map((name) => `${file} ${name}`),
  );
  return [...[...files.keys()].filter((file) => !reached.has(file)), ...idle].sort();
}

function takenBy(file: string, source: string): Taken[] {
  const code = blank(source, { templates: true });
  const at = (specifier: string) => join(dirname(file), specifier);
  const found: Taken[] = [];
  for (const [, , names = "", specifier = ""] of code.matchAll(clause)) {
    const listed = /\{([^{}]*)\}/.exec(names)?.[1];
    for (const part of listed?.split(",") ?? []) {
      const name = /^\s*(?:type\s+)?([\w$]+)/.exec(part)?.[1];
      if (name) found.push({ file: at(specifier), name });
    }
    if (listed === undefined || listed.trim() === "") found.push({ file: at(specifier), name: "*" });
  }
  for (const [, specifier = "", name] of code.matchAll(call)) found.push({ file: at(specifier), name: name ?? "*" });
  for (const [, name = ""] of code.matchAll(thread)) found.push({ file: at(`./${name}.ts`), name: "*" });
  return found;
}

function namesOf(source: string): string[] {
  return [...blank(source, { templates: true, strings: true }).matchAll(declared)].map((match) => match[1] as string);
}

function usesItself(source: string, name: string): boolean {
  const code = blank(source, { templates: false, strings: true });
  return (code.match(new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`, "g")) ?? []).length > 1;
}
