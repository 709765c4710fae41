import { domainOf } from "./address.ts";
import { MAX_FIELD_CHARS, type ParsedMail } from "./mime.ts";

/** Result of the receiving server's look at a sender. `unknown`: it said nothing. */
export type Verdict = "pass" | "fail" | "unknown";

/** Results of one field that are read, and words of one result; a server writes a handful. A field with more proves nothing. */
const MAX_RESULTS = 20;
const MAX_WORDS = 50;

/**
 * Says whether the address in `From` is the sender's, by the topmost `Authentication-Results` of a server that is trusted (RFC 8601). A server takes off fields that claim to be its
 * own and puts its own on top, so the ones below it prove nothing.
 * @param trusted names of the receiving server, in lower case
 */
export function verdictOn({ from, fields }: Pick<ParsedMail, "from" | "fields">, trusted: readonly string[]): Verdict {
  const address = from[0]?.address;
  if (address === undefined) return "fail";
  for (const field of fields["authentication-results"] ?? []) {
    const { plain, isComplete } = toPlain(field);
    const [id, ...results] = plain.split(";");
    if (!trusted.includes((id ?? "").trim().split(/\s/)[0]?.toLowerCase() ?? "")) continue;
    const isWhole = isComplete && field.length <= MAX_FIELD_CHARS && results.length <= MAX_RESULTS;
    const read = results.map((result) => result.trim().split(/\s+/));
    if (!isWhole || read.some(({ length }) => length > MAX_WORDS)) return "fail";
    return judge(read.map(toResult), domainOf(address));
  }
  return "unknown";
}

interface Result {
  method: string;
  value: string;
  properties: ReadonlyMap<string, string>;
}

function judge(results: readonly Result[], domain: string): Verdict {
  const dmarc = results.find(({ method }) => method === "dmarc");
  if (dmarc && dmarc.value !== "none") {
    const about = dmarc.properties.get("header.from");
    if (about !== undefined && domainOf(about) !== domain) return "fail";
    return dmarc.value === "pass" ? "pass" : "fail";
  }
  const aligned = results.some(({ method, value, properties }) => {
    if (value !== "pass") return false;
    const by = method === "dkim" ? (properties.get("header.d") ?? properties.get("header.i")) : method === "spf" ? properties.get("smtp.mailfrom") : undefined; // biome-ignore format: one table
    return by !== undefined && isAligned(domainOf(by), domain);
  });
  return aligned ? "pass" : results.length > 0 ? "fail" : "unknown";
}

/** A domain speaks for itself and for those below it; one below it may be somebody else's. */
function isAligned(by: string, domain: string): boolean {
  return by !== "" && by.includes(".") && (by === domain || domain.endsWith(`.${by}`));
}

/** The first value of a property counts: a sender may have put another one into a value behind it. */
function toResult([first = "", ...rest]: readonly string[]): Result {
  const [method = "", value = ""] = first.toLowerCase().split("=");
  const properties = new Map<string, string>();
  for (const pair of rest) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(0, at)).toLowerCase();
    if (key === "" || properties.has(key)) continue;
    const value = pair.slice(at + 1).replace(/^"|"$/g, "");
    properties.set(key, value.toLowerCase());
  }
  return { method: method.split("/")[0] ?? "", value, properties };
}

/**
 * Takes comments off, which may nest and hold anything, and replaces what would separate words or results inside of quotes: servers quote what a sender chose, such as the
 * local part of an address.
 * @returns `isComplete`: false when a comment or a quoted string does not end, or its mark of an escape stands outside: then it is not clear where it began
 */
function toPlain(text: string): { plain: string; isComplete: boolean } {
  let depth = 0;
  let isQuoted = false;
  let isEscaped = false;
  let isStray = false;
  let plain = "";
  for (const char of text) {
    const isLiteral: boolean = isEscaped;
    isEscaped = !isLiteral && char === "\\" && (isQuoted || depth > 0);
    if (isQuoted) {
      if (char === '"' && !isLiteral) isQuoted = false;
      plain += isLiteral || /[\s;()=\\]/.test(char) ? "_" : char;
    } else if (char === "(" && !isLiteral) depth += 1;
    else if (char === ")" && depth > 0) depth -= isLiteral ? 0 : 1;
    else if (depth === 0) {
      isQuoted = char === '"';
      isStray ||= char === "\\";
      plain += char;
    }
  }
  return { plain, isComplete: depth === 0 && !isQuoted && !isStray };
}
