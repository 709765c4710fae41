import { type EmbeddingError, withoutVendor } from "svc/sdk";
import { ownFault } from "./call-fault.ts";
import { DEFAULT_MODEL, factsOf, type ModelFacts } from "./catalogue.ts";
import { takesDimensions } from "./families.ts";

/** The model that embeds. */
export interface ModelChoice extends Pick<ModelFacts, "family" | "maxInputTokens"> {
  /** As the vendor is asked for it: prefixes and suffixes included. */
  modelId: string;
  /** Length of its vectors; undefined: known with the first one. */
  dims: number | undefined;
  /** Length that requests name; undefined where they cannot or need not. */
  askedDims: number | undefined;
}

/**
 * The model and its length of vectors from the config. Pure.
 * @throws {EmbeddingError} `invalid-request` for a length that the model does not have
 */
export function chooseModel(model: string | undefined, wanted: number | undefined): ModelChoice {
  const modelId = withoutVendor(model?.trim() || DEFAULT_MODEL, ["amazon-bedrock", "bedrock"]);
  const { family, dims: usual, selectable, maxInputTokens } = factsOf(modelId);
  const isUnknown = usual === undefined;
  if (wanted !== undefined && wanted !== usual && !(isUnknown ? takesDimensions(family) : selectable.includes(wanted))) {
    throw wrongLength({ modelId, wanted, usual, selectable });
  }
  const dims = wanted ?? usual;
  const askedDims = takesDimensions(family) ? dims : undefined;
  return { modelId, family, dims, askedDims, ...(maxInputTokens === undefined ? {} : { maxInputTokens }) };
}

function wrongLength(at: { modelId: string; wanted: number; usual: number | undefined; selectable: readonly number[] }): EmbeddingError {
  const valid = at.selectable.length > 0 ? at.selectable : at.usual === undefined ? [] : [at.usual];
  const expected = valid.length === 0 ? "none, because requests to this model cannot name one" : valid.join(", ");
  return ownFault(
    "invalid-request",
    `agents.defaults.memorySearch.outputDimensionality: expected ${expected} for model "${at.modelId}", got ${at.wanted}; correct it or remove it`,
  );
}
