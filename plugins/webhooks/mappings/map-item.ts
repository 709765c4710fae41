import type { JsonObject } from "svc/sdk";
import type { Draft } from "../actions/draft.ts";
import type { Part } from "../actions/frame.ts";
import { isIdField, toIdField } from "../actions/id-fields.ts";
import type { KeyOrigin } from "../actions/session-key.ts";
import type { CompiledMapping, TemplateField } from "./compiled.ts";
import { ItemView } from "./item-view.ts";
import type { RenderScope } from "./scope.ts";
import { renderParts, renderText } from "./template.ts";
import { readTransformFields, type TransformFields } from "./transform-fields.ts";

/** Longest value of a placeholder in the text of a wake, in UTF-16 units. */
const MAX_WAKE_VALUE_CHARS = 2_000;
/** Templates whose empty result means that the field is not set. */
const optionalTemplates = ["name", "to", "model", "thinking"] as const;
/** Name of the preset whose texts are mail. */
const MAIL_PRESET = "gmail";

/**
 * One payload as its mapping sees it: what the transform says, over what the templates say. Undefined: nothing is to be done.
 * @throws {SvcError} `hook-mapping-failed`, and what the transform throws
 */
export async function mapItem(compiled: CompiledMapping, scope: RenderScope, signal: AbortSignal): Promise<Draft | undefined> {
  const { ready } = compiled;
  const { path, headers, payload, url } = scope;
  const standard = ready.mapping.action ?? "agent";
  let made: TransformFields = { kind: standard, fields: {} };
  if (ready.transform) {
    const result = await ready.transform(
      { payload: payload instanceof ItemView ? payload.toObject() : payload, headers, path, url: url.href },
      { signal },
    );
    if (result.kind === "skip") return undefined;
    if (result.kind === "fields") made = readTransformFields(result.fields, standard);
  }
  return toDraft(compiled, scope, made);
}

function toDraft(compiled: CompiledMapping, scope: RenderScope, made: TransformFields): Draft {
  const { id, preset, mapping } = compiled.ready;
  const isGiven = (field: string) => Object.hasOwn(made.fields, field);
  const parts = made.kind === "wake" && !isGiven("text") ? wakeParts(compiled, scope) : undefined;
  const rendered = renderAll(compiled, scope, { kind: made.kind, isGiven });
  const task = made.kind === "wake" ? renderField(compiled, "name", scope) : "";
  const timeless = renderAll(compiled, { ...scope, now: "" }, { kind: made.kind, isGiven, onlyTimed: true });
  return {
    kind: made.kind,
    path: scope.path,
    mapping: id,
    fields: { ...staticFields(compiled, made.kind), ...rendered, ...(parts ? { text: joined(parts) } : {}), ...made.fields },
    keyOrigin: isGiven("sessionKey") ? { from: "payload" } : mappingKey(compiled),
    isFramed: mapping.allowUnsafeExternalContent !== true,
    isMail: preset === MAIL_PRESET,
    ...(parts ? { parts } : {}),
    ...(task === "" ? {} : { task }),
    timeless,
  };
}

function mappingKey({ templates }: CompiledMapping): KeyOrigin {
  const literal = templates.get("sessionKey")?.literal;
  return { from: "mapping", ...(literal === undefined ? {} : { literal }) };
}

/** The text of a wake in pieces: the operator's own words stand outside the frame. */
function wakeParts({ templates }: CompiledMapping, scope: RenderScope): Part[] {
  const template = templates.get("text");
  return template ? renderParts(template, scope, MAX_WAKE_VALUE_CHARS) : [];
}

function joined(parts: readonly Part[]): string {
  return parts.map((part) => part.text).join("");
}

function staticFields({ ready: { mapping } }: CompiledMapping, kind: "wake" | "agent"): JsonObject {
  const { agentId, wakeMode, deliver, channel, timeoutSeconds, sessionMode } = mapping;
  const fields = kind === "wake" ? { agentId, mode: wakeMode } : { agentId, wakeMode, deliver, channel, timeoutSeconds, sessionMode };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

interface RenderOptions {
  kind: "wake" | "agent";
  /** The transform has said it: its template is not asked. */
  isGiven: (field: string) => boolean;
  /** Only fields in which the time stands. */
  onlyTimed?: boolean;
}

function renderAll(compiled: CompiledMapping, scope: RenderScope, { kind, isGiven, onlyTimed = false }: RenderOptions): JsonObject {
  const fields: JsonObject = {};
  const names: TemplateField[] = kind === "wake" ? ["sessionKey"] : ["message", ...optionalTemplates, "sessionKey"];
  for (const name of onlyTimed && kind === "wake" ? [...names, "text" as const] : names) {
    const template = compiled.templates.get(name);
    if (!template || isGiven(name) || (onlyTimed && !template.usesNow)) continue;
    const text = name === "text" ? joined(wakeParts(compiled, scope)) : renderText(template, scope);
    const isUnset = text.trim() === "" && (optionalTemplates as readonly string[]).includes(name);
    if (!isUnset) fields[name] = isIdField(name) ? toIdField(name, text) : text;
  }
  return fields;
}

function renderField(compiled: CompiledMapping, name: TemplateField, scope: RenderScope): string {
  const template = compiled.templates.get(name);
  return template ? renderText(template, scope) : "";
}
