import { isIPv6 } from "node:net";

/** A host as people write it in the form that URLs have, `bücher.example.` as `xn--bcher-kva.example`; `*.` in front stays. Undefined for what names no host, or more than one. */
export function toHostPattern(text: string): string | undefined {
  const [, any = "", name = ""] = /^(\*\.)?(.*)$/s.exec(text.trim()) ?? [];
  const written = isIPv6(name) ? `[${name}]` : name;
  if (/[\s/\\?#@*]|:\d*$/.test(written) || !URL.canParse(`http://${written}`)) return undefined;
  const host = new URL(`http://${written}`).hostname.replace(/\.$/, "");
  return host === "" ? undefined : any + host;
}

/** Tells whether a list names a host of a URL; `*.host` stands for every name below it. Entries that name no host match none. */
export function hostList(entries: readonly string[]): (host: string) => boolean {
  const patterns = new Set(entries.map(toHostPattern));
  return (host) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    const parts = name.split(".");
    return patterns.has(name) || parts.some((_, i) => i > 0 && parts[i - 1] !== "" && patterns.has(`*.${parts.slice(i).join(".")}`));
  };
}
