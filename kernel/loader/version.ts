import inRange from "semver/functions/satisfies.js";
import valid from "semver/functions/valid.js";
import validRange from "semver/ranges/valid.js";

/** Maximum length of a range; the library bounds that of a version only. */
const MAX_LENGTH = 256;

/** Reports whether a text is a version as semver.org defines it. The library would also take a leading `v` and surrounding spaces. */
export function isVersion(text: string): boolean {
  return /^\d\S*$/.test(text) && valid(text) !== null;
}

/** Reports whether a text is a range in npm's syntax. An empty alternative, which npm reads as "any version", is more likely a slip and is none. */
export function isVersionRange(text: string): boolean {
  if (text.length > MAX_LENGTH || text.split("||").some((alternative) => alternative.trim() === "")) return false;
  return validRange(text) !== null;
}

/**
 * Reports whether a version lies in a range. As in npm, a pre-release does so only by a comparator that names a pre-release of the same three
 * numbers: `^1.0.0` does not include `1.1.0-beta`.
 * @returns false also for a text that is no version or no range
 */
export function satisfies(version: string, range: string): boolean {
  return isVersion(version) && isVersionRange(range) && inRange(version, range);
}
