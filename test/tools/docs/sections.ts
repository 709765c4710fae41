import { join } from "node:path";
import JSON5 from "json5";
import type { z } from "zod";
import type { SectionNode } from "../../../kernel/config/section-document.ts";
import type { Manifest } from "../../../sdk/types/manifest.ts";
import { readRepositoryFile, repositoryFiles, repositoryRoot } from "../source/tree.ts";
import { writeSection } from "./write-section.ts";

/** Sections of the config that bundled plugins own, written: path of the file → section → schema. Imports nothing that needs these files. */
export async function collectSections(
  importModule: (path: string) => Promise<unknown>,
): Promise<Record<string, Record<string, SectionNode>>> {
  const files: Record<string, Record<string, SectionNode>> = {};
  for (const [folder, module] of sectionModules()) {
    const { default: own } = (await importModule(join(repositoryRoot, folder, module))) as { default: Record<string, z.ZodType> };
    files[`${folder}/svc.sections.json`] = Object.fromEntries(
      Object.entries(own).map(([name, schema]) => [name, writeSection(name, schema)]),
    );
  }
  return files;
}

/** Folders of the plugins whose manifest names a module with sections, each with that module. */
function sectionModules(): Array<[folder: string, module: string]> {
  const manifests = repositoryFiles().filter((path) => /^plugins\/[^/]+\/svc\.plugin\.json$/.test(path));
  return manifests.flatMap((path) => {
    const { sections } = JSON5.parse(readRepositoryFile(path)) as Manifest;
    return sections === undefined ? [] : [[path.slice(0, path.lastIndexOf("/")), sections] as [string, string]];
  });
}
