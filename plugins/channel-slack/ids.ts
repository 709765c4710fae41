/** Id of a message: its time stamp is unique in its conversation. */
export function messageId(channel: string, ts: string): string {
  return `${channel}:${ts}`;
}

/** Parts of the id of a message, or of a file that was sent without one; undefined for an id of something else. */
export function messageParts(id: string): { channel: string; ts: string } | { channel: string; file: string } | undefined {
  const [, channel, ts, file] = /^([CDG][A-Z0-9]{1,30}):(?:(\d{1,12}\.\d{1,9})|(F[A-Z0-9]{1,30}))$/.exec(id) ?? [];
  if (channel === undefined) return undefined;
  return ts === undefined ? { channel, file: file as string } : { channel, ts };
}

/** True for the time stamp of the message that a thread is below. */
export function isThread(id: string): boolean {
  return /^\d{1,12}\.\d{1,9}$/.test(id);
}

/** True for a person, who is written to in a direct message. */
export function isUser(id: string): boolean {
  return /^[UW]/.test(id);
}

/** A target: a channel (`C…`, `G…`, `D…`) or a person (`U…`, `W…`). Null for what is none: names of channels may change hands. */
export function normalizeTarget(raw: string): string | null {
  const text = raw.trim().replace(/^slack:/i, "");
  return /^[CDGUW][A-Za-z0-9]{1,30}$/i.test(text) ? text.toUpperCase() : null;
}
