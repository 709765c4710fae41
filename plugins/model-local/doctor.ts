import { type DoctorFinding, messageOf } from "svc/sdk";
import { sizeOf } from "./provider.ts";
import type { LocalSettings } from "./settings.ts";

const MAX_MODELS = 50;

/** Findings about local models that cannot answer, each with its fix. That the runtime is missing is a finding about packages of plugins. */
export async function localFindings(settings: LocalSettings): Promise<DoctorFinding[]> {
  const finding = (message: string, fix: string, path = "models.providers.local"): DoctorFinding => ({
    id: "models/local-unusable",
    severity: "error",
    path,
    message,
    fix,
  });
  const files = await Promise.all(
    settings.models.slice(0, MAX_MODELS).map((model) =>
      sizeOf(model).then(
        () => undefined,
        (error: unknown) =>
          finding(
            messageOf(error),
            "put the GGUF file there, or correct modelPath",
            `models.providers.local.models[id=${model.id}].modelPath`,
          ),
      ),
    ),
  );
  return [
    ...(settings.models.length > 0 ? [] : [finding("no model is named", "name one in models.providers.local.models, with its modelPath")]),
    ...settings.problems.map((problem) => finding(problem, "correct the parameters")),
    ...files.filter((one) => one !== undefined),
  ];
}
