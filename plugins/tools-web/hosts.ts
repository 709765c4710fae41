/** The operator's lists of hosts. */
export interface HostRules {
  allowedHosts: readonly string[];
  deniedHosts: readonly string[];
}

/** Whether a host, in the form a URL has it, may be asked: `*.example.org` stands for every name below `example.org`, not for itself. */
export function isHostAllowed(host: string, { allowedHosts, deniedHosts }: HostRules): boolean {
  // A final dot names the same host.
  const name = host.toLowerCase().replace(/\.$/, "");
  const matches = (pattern: string) => {
    const wanted = pattern.toLowerCase();
    return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1 : name === wanted;
  };
  return !deniedHosts.some(matches) && (allowedHosts.length === 0 || allowedHosts.some(matches));
}
