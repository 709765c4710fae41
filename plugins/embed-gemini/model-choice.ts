import { offeredDimensions, withoutVendor } from "svc/sdk";
import { DEFAULT_MODEL, geminiModel, type TaskStyle } from "./models.ts";

/** A model as it is going to be called. */
export interface ModelChoice {
  model: string;
  task: TaskStyle;
  /** Length of the vectors, when it is known. */
  dims: number | undefined;
  /** Number of dimensions to request; undefined: the vendor's own. */
  sentDims: number | undefined;
  maxInputTokens: number;
  multimodal: boolean;
}

/** The vendor's name of a model that may be written with who offers it. */
export function modelName(model: string | undefined): string {
  const given = withoutVendor(model?.trim() ?? "", ["google", "gemini"]);
  return withoutVendor(given, ["models"]) || DEFAULT_MODEL;
}

/**
 * Decides model and size. Pure.
 * @throws {EmbeddingError} `invalid-request` for a size that the model does not have
 */
export function chooseModel(
  named: string | undefined,
  outputDimensionality: number | undefined,
): { choice: ModelChoice; warning?: string } {
  const model = modelName(named);
  const known = geminiModel(model);
  if (known) offeredDimensions(outputDimensionality, { adapter: "gemini", model, offered: known.dimensions });
  const sentDims = known?.sendsDimensions ? (outputDimensionality ?? known.defaultDimensions) : undefined;
  const choice: ModelChoice = {
    model,
    task: known?.task ?? "type",
    dims: sentDims ?? known?.defaultDimensions,
    sentDims,
    maxInputTokens: known?.maxInputTokens ?? 2_048,
    multimodal: known?.multimodal ?? false,
  };
  if (outputDimensionality === undefined || known?.sendsDimensions) return { choice };
  const size = choice.dims === undefined ? "the size of its own" : `${choice.dims} dimensions`;
  return {
    choice,
    warning: `outputDimensionality has no effect with ${model}: its vectors have ${size}; leave it out or use gemini-embedding-2`,
  };
}
