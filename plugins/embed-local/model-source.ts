import { basename } from "node:path";
import { expandPath } from "svc/sdk";

/** The model where none is configured: 768 dimensions, 2,048 tokens, about 0.3 GB. */
export const DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf";
export const DEFAULT_DIMS = 768;

/** Source of a model. `name` is what status and index call it: no folder, no credential. */
export type ModelSource = { kind: "file"; path: string; name: string } | { kind: "reference"; uri: string; name: string };

/** True for what the model library downloads. */
export function isReference(model: string): boolean {
  return /^(?:hf|huggingface|https?):/i.test(model);
}

/**
 * Reads `local.modelPath`. Pure but for the home folder.
 * @param model a path (`~` allowed) or an `hf:` or `http(s):` reference
 * @param base folder that relative paths start from
 */
export function parseModelSource(model: string, base: string): ModelSource {
  const text = model.trim();
  if (isReference(text)) return { kind: "reference", uri: text, name: referenceName(text) };
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
