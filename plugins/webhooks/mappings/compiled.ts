import { isRecord } from "svc/sdk";
import type { ReadyMapping } from "./mapping.ts";
import { parseTemplate, type Template } from "./template.ts";

/** Fields of a mapping that are templates. */
export type TemplateField = "message" | "text" | "name" | "to" | "model" | "thinking" | "sessionKey";

/** A mapping with its templates read. */
export interface CompiledMapping {
  ready: ReadyMapping;
  templates: ReadonlyMap<TemplateField, Template>;
}

/** Reads every template once, when the config is taken over. */
export function compileMapping(ready: ReadyMapping): CompiledMapping {
  const { messageTemplate: message, textTemplate: text, name, to, model, thinking, sessionKey } = ready.mapping;
  const sources = { message, text, name, to, model, thinking, sessionKey };
  const templates = Object.entries(sources).flatMap(([field, source]) =>
    source === undefined ? [] : [[field as TemplateField, parseTemplate(source)] as const],
  );
  return { ready, templates: new Map(templates) };
}

/** The mapping that owns a request: the first whose conditions hold. */
export function findMapping(
  compiled: readonly CompiledMapping[],
  { path, payload }: { path: string; payload: unknown },
): CompiledMapping | undefined {
  const source = isRecord(payload) && Object.hasOwn(payload, "source") ? payload.source : undefined;
  return compiled.find(({ ready: { mapping } }) => {
    const { path: wantedPath, source: wantedSource } = mapping.match ?? {};
    return (wantedPath === undefined || wantedPath === path) && (wantedSource === undefined || wantedSource === source);
  });
}
