import { basename } from "node:path";
import { expandPath } from "../agents.ts";
import type { LocalModelSource } from "../types/local-runtime.ts";

/** True for what the model runtime downloads. */
export function isModelReference(model: string): boolean {
  return /^(?:hf|huggingface|https?):/i.test(model);
}

/**
 * Reads a `modelPath` of the config. Pure but for the home folder.
 * @param model a path (`~` allowed) or an `hf:` or `http(s):` reference
 * @param base folder that relative paths start from
 */
export function parseModelSource(model: string, base: string): LocalModelSource {
  const text = model.trim();
  if (isModelReference(text)) return { kind: "reference", uri: text, name: referenceName(text) };
  const path = expandPath(text, base);
  return { kind: "file", path, name: basename(path) };
}

/** Addresses lose what may be a credential: user, password, question mark and all behind it. */
function referenceName(uri: string): string {
  if (!/^https?:/i.test(uri)) return uri;
  if (!URL.canParse(uri)) return "http:";
  const { origin, pathname } = new URL(uri);
  return origin + pathname;
}
