/** Id of a thread: that of the event it grew from, without its sign. */
export function threadId(rootEventId: string): string {
  return rootEventId.replace(/^\$/, "");
}

/** Event that a thread grew from. */
export function threadRoot(id: string): string {
  return `$${id}`;
}

/** A target: a room, a user, or an alias of a room. Null for what is none. */
export function normalizeTarget(raw: string): string | null {
  const text = raw.trim().replace(/^matrix:/, "");
  return /^(?:![^\s:]+(?::\S+)?|[@#][^\s:]+:\S+)$/.test(text) && text.length <= 255 ? text : null;
}

/** True for the id of an event. */
export function isEventId(id: string): boolean {
  return /^\$\S{1,254}$/.test(id);
}

/** Parts of the address of a file; undefined for what is none, as a server that is `..`: it would be a path. */
export function mxcOf(url: unknown): { server: string; id: string } | undefined {
  const [, server, id] = (typeof url === "string" && /^mxc:\/\/([A-Za-z\d[][\w.:[\]-]{0,254})\/([\w-]{1,255})$/.exec(url)) || [];
  return server === undefined || id === undefined ? undefined : { server, id };
}
