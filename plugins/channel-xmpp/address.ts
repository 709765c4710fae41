/** An address: `local@domain/resource`. */
export interface Address {
  local: string;
  domain: string;
  resource: string;
}

/** Longest part of an address (RFC 7622). */
const MAX_PART_BYTES = 1_023;

const localPart = /^[^\p{Cc}\p{Cs}\p{Zs}\p{Zl}\p{Zp}"&'/:<>@]+$/u;
const domainPart = /^(?:[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}.-]*[\p{L}\p{N}\p{M}])?|\[[\dA-Fa-f:.]+\])$/u;
const resourcePart = /^[^\p{Cc}\p{Cs}]+$/u;

/** Reads an address, with local part and domain in small letters. Undefined for a text that is none. */
export function parseAddress(text: string): Address | undefined {
  const slash = text.indexOf("/");
  const bare = slash < 0 ? text : text.slice(0, slash);
  const at = bare.indexOf("@");
  const local = (at < 0 ? "" : bare.slice(0, at)).normalize("NFC").toLowerCase();
  const domain = bare
    .slice(at + 1)
    .normalize("NFC")
    .toLowerCase();
  const resource = slash < 0 ? "" : text.slice(slash + 1).normalize("NFC");
  const fits = [local, domain, resource].every((part) => part.length <= MAX_PART_BYTES && Buffer.byteLength(part) <= MAX_PART_BYTES);
  if (!fits || !domainPart.test(domain) || domain.includes("..")) return undefined;
  if (at >= 0 && !localPart.test(local)) return undefined;
  if (slash >= 0 && !resourcePart.test(resource)) return undefined;
  return { local, domain, resource };
}

/** `local@domain` of an address: the account, or the room. */
export function bareOf({ local, domain }: Address): string {
  return local === "" ? domain : `${local}@${domain}`;
}

/**
 * Target of a message: an account or a room as `local@domain`, without the prefix `xmpp:` of links. Null for anything else. An address with a resource is none:
 * of a room it would be one person, whose name may change hands.
 */
export function normalizeTarget(raw: string): string | null {
  const text = raw
    .trim()
    .replace(/^xmpp:/i, "")
    .replace(/\?(?:join|message)$/i, "");
  const address = parseAddress(text);
  return address && address.local !== "" && !text.includes("/") ? bareOf(address) : null;
}

/** True for an address of an account or a room, without a resource. */
export function isBare(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && address.local !== "" && address.resource === "" && !text.includes("/");
}
