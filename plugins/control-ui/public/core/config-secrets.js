import { texts } from "../texts/config-more.js";
import { isTree } from "./config-paths.js";

/** Reference to a secret in words; undefined for anything else. @param {unknown} value */
export function secretPlace(value) {
  if (!isTree(value) || typeof value.source !== "string") return undefined;
  if (value.source === "env") return texts.environmentVariable(String(value.id));
  return value.source === "file" ? texts.inFile(String(value.id)) : texts.command;
}
