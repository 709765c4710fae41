import type { HookPreset, JsonObject } from "svc/sdk";
import type { HooksConfig } from "../action.ts";
import { bindingLiteral, effectivePrefixes } from "../actions/session-key.ts";
import { hookMappingSchema } from "../sections.ts";
import type { Transforms } from "../transforms/transforms.ts";
import type { Mapping, ReadyMapping } from "./mapping.ts";
import { presetTransform } from "./preset-transform.ts";
import { parseTemplate } from "./template.ts";

interface ReadyOptions {
  /** In the order of `hooks.presets`; undefined where nobody brings one of that name. */
  presets: ReadonlyArray<HookPreset | undefined>;
  transforms: Pick<Transforms, "call">;
}

/** The mappings of one config, ready for requests: the operator's own in their order, then those of its presets. What is broken says why. */
export function readyMappings(hooks: HooksConfig, { presets, transforms }: ReadyOptions): ReadyMapping[] {
  const own = hooks.mappings.map((mapping, i): ReadyMapping => {
    const broken = keyProblem(mapping, hooks);
    return {
      id: mapping.id ?? `mapping-${i + 1}`,
      mapping,
      ...(mapping.transform ? { transform: transforms.call(callOf(mapping.transform)) } : {}),
      ...(broken === undefined ? {} : { broken }),
    };
  });
  const brought = presets.flatMap((preset) => (preset ? preset.mappings.map((entry, i) => fromPreset(preset, { entry, i, hooks })) : []));
  return [...own, ...brought];
}

function callOf({ module, export: name }: NonNullable<Mapping["transform"]>): { module: string; export?: string } {
  return { module, ...(name === undefined ? {} : { export: name }) };
}

function fromPreset(preset: HookPreset, { entry, i, hooks }: { entry: JsonObject; i: number; hooks: HooksConfig }): ReadyMapping {
  const id = typeof entry.id === "string" ? entry.id : preset.mappings.length === 1 ? preset.id : `${preset.id}-${i + 1}`;
  const parsed = hookMappingSchema.safeParse(entry);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { id, preset: preset.id, mapping: matchOf(entry), broken: `preset "${preset.id}": ${issue?.path.join(".")}: ${issue?.message}` };
  }
  const mapping = parsed.data;
  const name = mapping.transform?.module;
  const run = name !== undefined && preset.transforms && Object.hasOwn(preset.transforms, name) ? preset.transforms[name] : undefined;
  const lost = name !== undefined && !run ? `preset "${preset.id}" has no transform "${name}"` : undefined;
  // Secrets stand in the operator's config; a preset cannot have one, and its path must not look as if it were signed.
  const broken = lost ?? (mapping.verify ? `preset "${preset.id}": verify is for hooks.mappings` : keyProblem(mapping, hooks));
  return {
    id,
    preset: preset.id,
    mapping,
    ...(name !== undefined && run ? { transform: presetTransform(name, run) } : {}),
    ...(broken === undefined ? {} : { broken }),
  };
}

/** Mapping with only the match of a broken entry: its requests are refused, and do not reach the next mapping. */
function matchOf({ match }: JsonObject): Mapping {
  const parsed = hookMappingSchema.safeParse({ match });
  return parsed.success ? parsed.data : { match: { path: "/" } };
}

/** A session key that the payload alone would decide about. */
function keyProblem({ sessionKey }: Mapping, hooks: HooksConfig): string | undefined {
  const literal = sessionKey === undefined ? undefined : parseTemplate(sessionKey).literal;
  if (literal === undefined || bindingLiteral(literal) !== "" || effectivePrefixes(hooks).length > 0) return undefined;
  return "a templated sessionKey needs text of its own before its first {{, or hooks.allowedSessionKeyPrefixes";
}
