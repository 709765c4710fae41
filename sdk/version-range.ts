/** A parsed version (Semantic Versioning 2.0.0, semver.org); build metadata takes no part in comparisons and is not kept. */
export interface Version {
  major: number;
  minor: number;
  patch: number;
  /** Pre-release identifiers; empty = a release. */
  pre: ReadonlyArray<string | number>;
}

interface Comparator {
  op: "<" | "<=" | ">" | ">=" | "=";
  version: Version;
}

/** A version with parts left open: `1`, `1.2`, `1.x`, `*`. */
interface Partial {
  major: number | undefined;
  minor: number | undefined;
  patch: number | undefined;
  pre: ReadonlyArray<string | number>;
}

const number = "(?:0|[1-9]\\d*)";
const preRelease = "(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?";
const versionPattern = new RegExp(`^(${number})\\.(${number})\\.(${number})${preRelease}$`);
const part = `(${number}|[xX*])`;
const simplePattern = new RegExp(`^(\\^|~>?|<=?|>=?|=|)\\s*v?${part}(?:\\.${part}(?:\\.${part}${preRelease})?)?$`);
const LONGEST = 256;

/** A version of exactly three numbers with an optional pre-release and build, or undefined. */
export function parseVersion(text: string): Version | undefined {
  const m = text.length <= LONGEST ? versionPattern.exec(text) : null;
  const pre = m && preReleaseOf(m[4]);
  return m && pre ? { major: Number(m[1]), minor: Number(m[2]), patch: Number(m[3]), pre } : undefined;
}

/** Negative, 0 or positive, by the precedence of semver.org 11. */
export function compareVersions(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || comparePre(a.pre, b.pre);
}

/** True for a range in the syntax of npm: caret, tilde, x-ranges, comparators, hyphens, `||`. An empty text is none. */
export function isVersionRange(range: string): boolean {
  return parseRange(range) !== undefined;
}

/**
 * True when the version lies in the range. A pre-release is taken only by a comparator that names a pre-release of the same three numbers,
 * as npm has it: `^1.0.0` does not take `1.1.0-beta`.
 * @returns false also for a text that is no version or no range
 */
export function satisfies(version: string, range: string): boolean {
  const parsed = parseVersion(version);
  const sets = parseRange(range);
  return parsed !== undefined && sets?.some((set) => satisfiesAll(parsed, set)) === true;
}

function satisfiesAll(version: Version, set: readonly Comparator[]): boolean {
  if (!set.every((c) => holds(version, c))) return false;
  if (version.pre.length === 0) return true;
  return set.some((c) => c.version.pre.length > 0 && sameTriple(c.version, version));
}

function holds(version: Version, { op, version: bound }: Comparator): boolean {
  const order = compareVersions(version, bound);
  if (op === "=") return order === 0;
  if (op === "<") return order < 0;
  if (op === ">") return order > 0;
  return op === "<=" ? order <= 0 : order >= 0;
}

/** Alternatives of comparators that must all hold; undefined when the text is no range. */
function parseRange(text: string): Comparator[][] | undefined {
  if (text.length > LONGEST || text.trim() === "") return undefined;
  const sets = text.split("||").map((alternative) => parseAlternative(alternative.trim()));
  return sets.every((set) => set !== undefined) ? sets : undefined;
}

function parseAlternative(text: string): Comparator[] | undefined {
  const hyphen = /^(\S+)\s+-\s+(\S+)$/.exec(text);
  if (hyphen) return hyphenRange(hyphen[1] as string, hyphen[2] as string);
  const simples = text.replace(/(\^|~>?|<=?|>=?|=)\s+/g, "$1").split(/\s+/);
  const sets = simples.map(parseSimple);
  return sets.every((set) => set !== undefined) ? sets.flat() : undefined;
}

function parseSimple(text: string): Comparator[] | undefined {
  const m = simplePattern.exec(text);
  const bound = m && partialOf(m.slice(2));
  if (!m || !bound) return undefined;
  if (m[1] === "^") return between(bound, caretEnd(bound));
  if (m[1] === "~" || m[1] === "~>") return between(bound, tildeEnd(bound));
  return compareWith((m[1] || "=") as Comparator["op"], bound);
}

function compareWith(op: Comparator["op"], bound: Partial): Comparator[] {
  const whole = bound.patch !== undefined;
  if (whole) return [{ op, version: floor(bound) }];
  const end = partialEnd(bound);
  if (op === "=") return between(bound, end);
  if (op === ">=") return bound.major === undefined ? [] : [{ op, version: floor(bound) }];
  if (op === "<") return [{ op, version: lowest(floor(bound)) }];
  if (op === "<=") return end ? [{ op: "<", version: end }] : [];
  return end ? [{ op: ">=", version: { ...end, pre: [] } }] : [{ op: "<", version: lowest(floor(bound)) }];
}

function hyphenRange(from: string, to: string): Comparator[] | undefined {
  const [low, high] = [from, to].map((text) => partialOf(simplePattern.exec(text)?.slice(2) ?? []));
  if (!low || !high || /^[\^~<>=]/.test(from) || /^[\^~<>=]/.test(to)) return undefined;
  return [...compareWith(">=", low), ...compareWith("<=", high)];
}

function between(bound: Partial, end: Version | undefined): Comparator[] {
  if (bound.major === undefined) return [];
  const start: Comparator = { op: ">=", version: floor(bound) };
  return end ? [start, { op: "<", version: end }] : [start];
}

/** First version a caret no longer takes: the leftmost number that is not 0 stays. */
function caretEnd({ major = 0, minor, patch }: Partial): Version {
  if (major > 0 || minor === undefined) return lowest(triple(major + 1, 0, 0));
  if (minor > 0 || patch === undefined) return lowest(triple(0, minor + 1, 0));
  return lowest(triple(0, 0, patch + 1));
}

function tildeEnd({ major = 0, minor }: Partial): Version {
  return lowest(minor === undefined ? triple(major + 1, 0, 0) : triple(major, minor + 1, 0));
}

/** First version after everything a partial stands for; undefined for `*`. */
function partialEnd({ major, minor }: Partial): Version | undefined {
  if (major === undefined) return undefined;
  return lowest(minor === undefined ? triple(major + 1, 0, 0) : triple(major, minor + 1, 0));
}

function partialOf(groups: ReadonlyArray<string | undefined>): Partial | undefined {
  const [major, minor, patch] = groups.map((g) => (g === undefined || /^[xX*]$/.test(g) ? undefined : Number(g)));
  const pre = preReleaseOf(groups[3]);
  if (groups.length === 0 || !pre) return undefined;
  // Whatever follows an open part is open too: 1.x.3 is 1.x.
  const open = { major, minor: major === undefined ? undefined : minor };
  return { ...open, patch: open.minor === undefined ? undefined : patch, pre: open.minor === undefined || patch === undefined ? [] : pre };
}

function floor({ major = 0, minor = 0, patch = 0, pre }: Partial): Version {
  return { major, minor, patch, pre };
}

function triple(major: number, minor: number, patch: number): Version {
  return { major, minor, patch, pre: [] };
}

/** The smallest version of these three numbers, below all its other pre-releases. */
function lowest(version: Version): Version {
  return { ...version, pre: [0] };
}

function sameTriple(a: Version, b: Version): boolean {
  return a.major === b.major && a.minor === b.minor && a.patch === b.patch;
}

/** Identifiers of a pre-release; undefined when a number among them begins with 0. */
function preReleaseOf(text: string | undefined): Array<string | number> | undefined {
  if (text === undefined) return [];
  const ids = text.split(".");
  return ids.some((id) => /^0\d+$/.test(id)) ? undefined : ids.map((id) => (/^\d+$/.test(id) ? Number(id) : id));
}

function comparePre(a: Version["pre"], b: Version["pre"]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = compareIdentifier(a[i], b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifier(a: string | number | undefined, b: string | number | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  if (typeof a === typeof b) return a < b ? -1 : 1;
  return typeof a === "number" ? -1 : 1;
}
