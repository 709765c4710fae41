import { hostList } from "svc/sdk";

/** The operator's lists of hosts. */
export interface HostRules {
  allowedHosts: readonly string[];
  deniedHosts: readonly string[];
}

/** Tells whether a host, in the form a URL has it, may be asked: `*.example.org` stands for every name below `example.org`, not for itself. */
export function hostFilter({ allowedHosts, deniedHosts }: HostRules): (host: string) => boolean {
  const [isAllowed, isDenied] = [hostList(allowedHosts), hostList(deniedHosts)];
  return (host) => !isDenied(host) && (allowedHosts.length === 0 || isAllowed(host));
}
