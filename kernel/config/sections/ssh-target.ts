/** Other end of an SSH connection. */
export interface SshTarget {
  /** `user@host`, `host`, or a name from the config of `ssh`. */
  destination: string;
  port?: number;
}

/** Nothing that `ssh` could take for an option, and no character that a shell or its config would read. */
const pattern = /^((?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\]))(?::(\d{1,5}))?$/;

/** Reads `[user@]host[:port]`; undefined for anything else. Pure. */
export function parseSshTarget(text: string): SshTarget | undefined {
  const [, destination = "", port] = pattern.exec(text) ?? [];
  if (destination === "" || (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535))) return undefined;
  return { destination: destination.replace(/[[\]]/g, ""), ...(port === undefined ? {} : { port: Number(port) }) };
}
