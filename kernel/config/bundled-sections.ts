import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { messageOf } from "../../sdk/errors.ts";
import { packageRoot } from "../process/paths.ts";
import { readSection, type SectionNode } from "./section-document.ts";

/** Name of the file beside the manifest that holds the sections of the config that a bundled plugin owns, by name. */
export const SECTIONS_FILE = "svc.sections.json";

/**
 * Sections of all bundled plugins, whether they run or not, from their built files. Read before anything else: which plugins there are, and which of
 * them run, is known from the config that these sections are a part of.
 *
 * @param taken names of sections that no plugin owns
 * @throws {Error} for a file that is damaged or names a section of another owner
 */
export function readBundledSections(taken: readonly string[], root = join(packageRoot(), "plugins")): Record<string, z.ZodType> {
  const sections: Record<string, z.ZodType> = {};
  for (const id of readdirSync(root).sort()) {
    const file = join(root, id, SECTIONS_FILE);
    try {
      for (const [name, node] of Object.entries(readNodes(file))) {
        if (taken.includes(name) || Object.hasOwn(sections, name)) throw new Error(`the section ${name} has another owner`);
        sections[name] = readSection(node);
      }
    } catch (error) {
      throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
    }
  }
  return sections;
}

/** Sections in a file; none when there is no file. */
function readNodes(file: string): Record<string, SectionNode> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, SectionNode>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw error;
  }
}
