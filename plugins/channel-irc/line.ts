/** User, or server, that a line comes from. */
export interface Source {
  /** Nick of a user, or name of a server. */
  nick: string;
  user?: string;
  host?: string;
}

/** One line of the protocol. */
export interface Line {
  tags: ReadonlyMap<string, string>;
  source?: Source;
  /** Command in capitals, or a numeric. */
  command: string;
  params: string[];
}

/** Longest line that is sent, in bytes without its end (RFC 1459: 512 with it). */
export const MAX_LINE_BYTES = 510;

/** Reads a line without its end. Undefined for one without a command. */
export function parseLine(text: string): Line | undefined {
  const rest = { text };
  const tags = rest.text.startsWith("@") ? parseTags(nextWord(rest).slice(1)) : new Map<string, string>();
  const source = rest.text.startsWith(":") ? parseSource(nextWord(rest).slice(1)) : undefined;
  const command = nextWord(rest).toUpperCase();
  if (command === "") return undefined;
  const params: string[] = [];
  while (rest.text !== "") {
    if (rest.text.startsWith(":")) {
      params.push(rest.text.slice(1));
      break;
    }
    params.push(nextWord(rest));
  }
  return { tags, command, params, ...(source ? { source } : {}) };
}

/**
 * Writes a line. The last parameter may hold spaces; no parameter may hold the end of a line.
 * @throws {Error} for a parameter that would be read as something else: nothing that came from outside may add a parameter or a line
 */
export function formatLine(command: string, ...params: string[]): string {
  const last = params.length - 1;
  const words = params.map((param, i) => {
    if (/[\0\r\n]/.test(param)) throw new Error(`${command}: a parameter holds the end of a line`);
    const needsColon = param === "" || param.startsWith(":") || param.includes(" ");
    if (i < last && needsColon) throw new Error(`${command}: parameter ${i + 1} is not one word`);
    return i === last && (needsColon || command === "PRIVMSG") ? `:${param}` : param;
  });
  return [command, ...words].join(" ");
}

/** `nick!user@host`, as far as it is known. */
export function formatSource({ nick, user, host }: Source): string {
  return `${nick}${user === undefined ? "" : `!${user}`}${host === undefined ? "" : `@${host}`}`;
}

/** Reads `nick!user@host`; a host holds no `@`, a user may. */
export function parseSource(text: string): Source {
  const bang = text.indexOf("!");
  const at = text.lastIndexOf("@");
  if (bang > 0 && at > bang) return { nick: text.slice(0, bang), user: text.slice(bang + 1, at), host: text.slice(at + 1) };
  if (bang < 0 && at > 0) return { nick: text.slice(0, at), host: text.slice(at + 1) };
  return { nick: text };
}

/** Takes the next word off the rest, and the blanks behind it. */
function nextWord(rest: { text: string }): string {
  const end = rest.text.indexOf(" ");
  const word = end < 0 ? rest.text : rest.text.slice(0, end);
  let next = end < 0 ? rest.text.length : end;
  while (rest.text[next] === " ") next += 1;
  rest.text = rest.text.slice(next);
  return word;
}

const escapes: Readonly<Record<string, string>> = { ":": ";", s: " ", "\\": "\\", r: "\r", n: "\n" };

function parseTags(text: string): Map<string, string> {
  const pairs = text.split(";").map((pair): [string, string] => {
    const at = pair.indexOf("=");
    return at < 0 ? [pair, ""] : [pair.slice(0, at), unescapeTag(pair.slice(at + 1))];
  });
  return new Map(pairs);
}

function unescapeTag(value: string): string {
  return value.replace(/\\(.?)/g, (_, next: string) => escapes[next] ?? next);
}
