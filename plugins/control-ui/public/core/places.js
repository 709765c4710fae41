/**
 * Places in memory files, as answers cite them. Pure.
 *
 * @typedef {{ path: string, from?: number | undefined, to?: number | undefined }} Place
 * @typedef {{ kind: "text", text: string } | { kind: "sources", places: Place[] }} Segment
 */

const footer = /^(?:>\s*)?(?:[-*]\s+)?(?:\*\*|_)?Sources?:(?:\*\*|_)?(.*)$/is;
const range = /^#L(\d+)(?:-L?(\d+))?[`")]*[.,;]?$/;
const inline = /(?<![\w/.-])([\w][\w./-]*\.md|sessions\/[\w-]+)#L(\d+)(?:-L?(\d+))?/g;

/**
 * `memory/a.md#L3-L9` → its parts.
 * @param {string} text
 * @returns {Place | undefined}
 */
export function parsePlace(text) {
  const whole = text.trim();
  const hash = whole.lastIndexOf("#L");
  const match = hash < 0 ? null : range.exec(whole.slice(hash));
  const path = whole.slice(0, hash).replace(/^[`"(]+/, "");
  if (!match || !(/.\.md$/.test(path) || /^sessions\/[\w-]+$/.test(path))) return undefined;
  const from = Number(match[1]);
  return { path, from, to: match[2] === undefined ? from : Math.max(from, Number(match[2])) };
}

/** Id of the session a place is in; undefined for a file. @param {string} path */
export function sessionOfPath(path) {
  return /^sessions\/([\w-]+)$/.exec(path)?.[1];
}

/** @param {Place} place */
export function formatPlace({ path, from, to }) {
  if (from === undefined) return path;
  return `${path}:${from}${to === undefined || to === from ? "" : `-${to}`}`;
}

/**
 * Cuts an answer at its `Source: path#L3-L9` lines, so that each can be shown as chips where it stands. Lines inside code fences are text.
 * @param {string} text
 * @param {{ isStreaming?: boolean }} [options] while streaming, a last line that begins like a footer is held back until it is whole
 * @returns {Segment[]}
 */
export function splitSources(text, { isStreaming = false } = {}) {
  /** @type {Segment[]} */
  const segments = [];
  const lines = text.split("\n");
  let inFence = false;
  for (const [i, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) inFence = !inFence;
    const match = inFence ? null : footer.exec(line.trim());
    if (isStreaming && i === lines.length - 1 && !inFence && isUnfinished(line)) break;
    const places = match ? placesOf(/** @type {string} */ (match[1]).trim()) : undefined;
    if (places) addPlaces(segments, places);
    else addLine(segments, line);
  }
  for (const segment of segments) if (segment.kind === "sources") segment.places = uniquePlaces(segment.places);
  return segments.filter((s) => s.kind === "sources" || s.text.trim() !== "");
}

/**
 * Text with the places it names in passing: `["see ", place, "."]`.
 * @param {string} text
 * @returns {Array<string | Place>}
 */
export function linkPlaces(text) {
  /** @type {Array<string | Place>} */
  const out = [];
  let last = 0;
  for (const match of text.matchAll(inline)) {
    if (match.index > last) out.push(text.slice(last, match.index));
    const from = Number(match[2]);
    out.push({ path: /** @type {string} */ (match[1]), from, to: match[3] === undefined ? from : Math.max(from, Number(match[3])) });
    last = match.index + match[0].length;
  }
  if (last < text.length || out.length === 0) out.push(text.slice(last));
  return out;
}

/**
 * Hits of a `memory_search` result, whether it came as details or as JSON text.
 * @param {{ details?: unknown, text?: string | undefined }} result
 * @returns {Array<Place & { snippet?: string, score?: number, source?: string }> | undefined} undefined when it is something else
 */
export function hitsOf({ details, text }) {
  const value = isResult(details) ? details : parseJson(text);
  if (!isResult(value)) return undefined;
  return value.results
    .filter((r) => typeof r?.path === "string")
    .map((r) => ({
      path: String(r.path),
      from: numberOr(r.startLine),
      to: numberOr(r.endLine),
      ...(typeof r.snippet === "string" ? { snippet: r.snippet.replace(/(?<!\n)\n*^Source: .*$/m, "").trim() } : {}),
      ...(typeof r.score === "number" ? { score: r.score } : {}),
      ...(typeof r.source === "string" ? { source: r.source } : {}),
    }));
}

/** One per file and lines. @template {Place} P @param {P[]} places @returns {P[]} */
export function uniquePlaces(places) {
  return [...new Map(places.map((p) => [formatPlace(p), p])).values()];
}

/** @param {string} line */
function isUnfinished(line) {
  const start = line.trimStart();
  return start.length > 0 && ("source: ".startsWith(start.toLowerCase()) || /^source:/i.test(start));
}

/** @param {string} list @returns {Place[] | undefined} */
function placesOf(list) {
  const places = list.split(/(?<!\s)\s*[,;]\s+|(?<!\s)\s+and\s+/).map(parsePlace);
  if (places.every((p) => p !== undefined)) return /** @type {Place[]} */ (places);
  const whole = parsePlace(list);
  return whole ? [whole] : undefined;
}

/** @param {Segment[]} segments @param {Place[]} places */
function addPlaces(segments, places) {
  // Blank lines between two footers do not part them.
  const last = segments.findLast((s) => s.kind === "sources" || s.text.trim() !== "");
  if (last?.kind === "sources") for (const place of places) last.places.push(place);
  else segments.push({ kind: "sources", places });
}

/** @param {Segment[]} segments @param {string} line */
function addLine(segments, line) {
  const last = segments.at(-1);
  if (last?.kind === "text") last.text += `\n${line}`;
  else segments.push({ kind: "text", text: line });
}

/** @param {unknown} value @returns {value is { results: any[] }} */
function isResult(value) {
  return typeof value === "object" && value !== null && Array.isArray(/** @type {any} */ (value).results);
}

/** @param {string | undefined} text @returns {unknown} */
function parseJson(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
function numberOr(value) {
  return typeof value === "number" ? value : undefined;
}
