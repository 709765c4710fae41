/** Host in the form that URLs have it, without a final dot, which names the same host. */
function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}

/**
 * A host as an operator writes it, in the form that URLs have it: `Bücher.example.` is `xn--bcher-kva.example`, `::1` is `[::1]`. `*.host` stands for every name below it. Undefined for
 * what names no host, as an address with a port.
 */
export function toHostPattern(text: string): string | undefined {
  const [, any = "", name = ""] = /^(\*\.)?(.*)$/s.exec(text.trim()) ?? [];
  const written = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(name) ? `[${name}]` : name;
  const address = `http://${written}`;
  // Whatever else an address may have would be dropped in silence.
  if (/[\s/\\?#@*]|:\d*$/.test(written) || !URL.canParse(address)) return undefined;
  const host = plainHost(new URL(address).hostname);
  return host === "" ? undefined : `${any}${host}`;
}

/** Tells whether a list names a host of a URL. Entries that name no host match none. */
export function hostList(entries: readonly string[]): (host: string) => boolean {
  const patterns = entries.flatMap((entry) => toHostPattern(entry) ?? []);
  const exact = new Set(patterns.filter((pattern) => !pattern.startsWith("*.")));
  const below = patterns.filter((pattern) => pattern.startsWith("*.")).map((pattern) => pattern.slice(1));
  return (host) => {
    const name = plainHost(host);
    return exact.has(name) || below.some((end) => name.endsWith(end) && name.length > end.length);
  };
}
