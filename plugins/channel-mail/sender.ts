import { domainOf } from "./address.ts";
import type { ParsedMail } from "./mime.ts";

/** Result of the receiving server's look at a sender. `unknown`: it said nothing. */
export type Verdict = "pass" | "fail" | "unknown";

/** Results of one field that are read; a server writes a handful. */
const MAX_RESULTS = 20;

/**
 * Says whether the address in `From` is the sender's, by the topmost `Authentication-Results` of a server that is trusted (RFC 8601). A server takes off fields that claim to be its
 * own and puts its own on top, so the ones below it prove nothing.
 * @param trusted names of the receiving server, in lower case
 */
export function verdictOn({ from, fields }: Pick<ParsedMail, "from" | "fields">, trusted: readonly string[]): Verdict {
  const address = from[0]?.address;
  if (address === undefined) return "fail";
  for (const field of fields["authentication-results"] ?? []) {
    const [id, ...results] = withoutComments(field).split(";");
    if (!trusted.includes((id ?? "").trim().split(/\s/)[0]?.toLowerCase() ?? "")) continue;
    return judge(results.slice(0, MAX_RESULTS).map(toResult), domainOf(address));
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

function toResult(text: string): Result {
  const [first = "", ...rest] = text.trim().split(/\s+/).slice(0, 50);
  const [method = "", value = ""] = first.toLowerCase().split("=");
  const properties = new Map<string, string>();
  for (const pair of rest) {
    const at = pair.indexOf("=");
    if (at > 0)
      properties.set(
        pair.slice(0, at).toLowerCase(),
        pair
          .slice(at + 1)
          .replace(/^"|"$/g, "")
          .toLowerCase(),
      );
  }
  return { method: method.split("/")[0] ?? "", value, properties };
}

/** Takes comments off, which may nest and hold anything. */
function withoutComments(text: string): string {
  let depth = 0;
  let plain = "";
  for (const char of text) {
    if (char === "(") depth += 1;
    else if (char === ")" && depth > 0) depth -= 1;
    else if (depth === 0) plain += char;
  }
  return plain;
}
