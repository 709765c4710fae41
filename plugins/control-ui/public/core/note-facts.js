import { texts } from "../texts/parts.js";

/**
 * Facts about notes that are written in the page. Pure.
 *
 * @typedef {{ path: string, missing: boolean, size?: number, updatedAtMs?: number, hash?: string, content?: string }} Note
 * @typedef {{ content: string, hash: string | null, name?: string }} NoteDraft `hash`: of the state that it was typed over, null for none; `name`: of
 *   a note that has no file yet, as typed
 */

const MAX_PART_BYTES = 200;

/** Notes that the page can change: others belong to folders of the operator. @param {string} path */
export function isEditable(path) {
  return path === "MEMORY.md" || (path.startsWith("memory/") && /\.md$/i.test(path));
}

/**
 * The file of a note from the name that somebody typed: `garden` → `memory/garden.md`.
 * @param {string} name
 * @returns {{ path: string, problem?: undefined } | { path?: undefined, problem: string }}
 */
export function pathOfName(name) {
  const typed = name.trim().replace(/^\.?\/+/, "");
  if (typed === "MEMORY.md") return { path: typed };
  const parts = typed.replace(/^memory\//, "").split("/");
  if (typed === "" || parts.some((part) => part.trim() === "")) return { problem: texts.writeNameSuch };
  if (parts.some((part) => part.startsWith("."))) return { problem: texts.nameDoesNot };
  if (/[\p{Cc}\p{Zl}\p{Zp}\\]/u.test(typed)) return { problem: texts.nameLettersDigits };
  const file = /\.md$/i.test(typed) ? parts : [...parts.slice(0, -1), `${parts.at(-1)}.md`];
  if (file.some((part) => new TextEncoder().encode(part).length > MAX_PART_BYTES)) return { problem: texts.nameTooLong };
  return { path: ["memory", ...file].join("/") };
}

/** A text field knows one kind of line end; a file keeps its own. @param {string} typed @param {string | undefined} before */
export function withLineEnds(typed, before) {
  return before?.includes("\r\n") && !/[^\r]\n/.test(before) ? typed.replace(/\r?\n/g, "\r\n") : typed;
}

/** The text as a field shows it. @param {string} content */
export function inField(content) {
  return content.replace(/\r\n?/g, "\n");
}

/**
 * The lines of a text that differ from another one: what both begin and end with is left out.
 * @param {string} theirs
 * @param {string} mine
 * @returns {{ lines: string[], from: number, to: number }} line numbers from 1; `to` is less than `from` where nothing differs
 */
export function differingLines(theirs, mine) {
  const lines = theirs.split("\n");
  const others = mine.split("\n");
  const most = Math.min(lines.length, others.length);
  let head = 0;
  while (head < most && lines[head] === others[head]) head += 1;
  let tail = 0;
  while (tail < most - head && lines[lines.length - 1 - tail] === others[others.length - 1 - tail]) tail += 1;
  return { lines, from: head + 1, to: lines.length - tail };
}

/** Title of a note: a new one has no file yet. @param {string | undefined} path */
export function titleOf(path) {
  return path ?? texts.newNote;
}
