/** Id of a message: Telegram counts them in each chat. */
export function messageId(chatId: number | string, id: number): string {
  return `${chatId}:${id}`;
}

/** Number of a message in its chat; undefined for an id of something else. */
export function messageNumber(id: string): number | undefined {
  const [, number] = /^-?\d+:(\d{1,15})$/.exec(id) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Id of a topic of a forum. */
export function threadId(number: number): string {
  return `t${number}`;
}

export function threadNumber(id: string): number | undefined {
  const [, number] = /^t(\d{1,15})$/.exec(id) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** A target: the number of a chat, or the @name of a public one. Null for what is none. */
export function normalizeTarget(raw: string): string | null {
  const text = raw.trim().replace(/^telegram:/, "");
  return /^-?\d{1,19}$/.test(text) || /^@[A-Za-z]\w{3,31}$/.test(text) ? text : null;
}
