import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { joinPart } from "../../../bin/join.mjs";
import { root } from "./gateway.mjs";

/** A module of the product that no file of `dist` offers by itself, compiled as those are. */
export async function importPart(source) {
  const folder = join(root, "test/.tmp/parts");
  await joinPart(source, folder);
  return import(pathToFileURL(join(folder, source.replace(/\.ts$/, ".js"))).href);
}
