import { type RenderScope, resolvePath, type Step } from "./scope.ts";
import { outputTooLarge, writeValue } from "./value-text.ts";

/** A template, read once: literal texts and paths. */
export interface Template {
  readonly segments: ReadonlyArray<string | { path: readonly Step[] }>;
  /** Text before the first placeholder; undefined without placeholders. */
  readonly literal?: string;
  readonly usesNow: boolean;
}

/** Rendered template: the pieces, in order. `isExternal`: it came with the request. */
export interface RenderedPart {
  text: string;
  isExternal: boolean;
}

/** Longest output of a template, in bytes of UTF-8. */
export const MAX_OUTPUT_BYTES = 256 * 1024;

const placeholder = /\{\{([^{}]*)\}\}/g;
const pathShape = /^[^.[\]]+(?:\.[^.[\]]+|\[\d{1,10}\])*$/;

/** Reads a template; whatever is no placeholder is text. Never fails. */
export function parseTemplate(source: string): Template {
  const segments: Array<string | { path: Step[] }> = [];
  let literal: string | undefined;
  let text = "";
  let kept = 0;
  for (const match of source.matchAll(placeholder)) {
    const expression = (match[1] as string).trim();
    if (!pathShape.test(expression)) continue;
    text += source.slice(kept, match.index);
    kept = match.index + match[0].length;
    literal ??= text;
    if (text !== "") segments.push(text);
    text = "";
    segments.push({ path: stepsOf(expression) });
  }
  text += source.slice(kept);
  if (text !== "") segments.push(text);
  const usesNow = segments.some((segment) => typeof segment !== "string" && isNow(segment.path));
  return { segments, usesNow, ...(literal === undefined ? {} : { literal }) };
}

function stepsOf(expression: string): Step[] {
  return [...expression.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((match) =>
    match[1] === undefined ? (match[2] as string) : Number(match[1]),
  );
}

function isNow(path: readonly Step[]): boolean {
  return path.length === 1 && path[0] === "now";
}

/**
 * One pass: values are never read as templates. `maxValueChars` cuts each value.
 * @throws {SvcError} `hook-mapping-failed` when the output grows beyond 256 KiB; it is told as soon as it does
 */
export function renderParts(template: Template, scope: RenderScope, maxValueChars = Number.POSITIVE_INFINITY): RenderedPart[] {
  const parts: RenderedPart[] = [];
  let room = MAX_OUTPUT_BYTES;
  for (const segment of template.segments) {
    const text = typeof segment === "string" ? segment : writeValue(resolvePath(scope, segment.path), { room, maxChars: maxValueChars });
    room -= Buffer.byteLength(text);
    if (room < 0) throw outputTooLarge();
    parts.push({ text, isExternal: typeof segment !== "string" && !isNow(segment.path) });
  }
  return parts;
}

/** @throws {SvcError} as {@link renderParts} */
export function renderText(template: Template, scope: RenderScope): string {
  return renderParts(template, scope)
    .map((part) => part.text)
    .join("");
}
