/** A name, what may stand between a name and its value, or anything else that ends a name. */
const part = /[\w$.-]+|[:=]|[^\w$.\-\s"'`]/g;
/** Text before a value: blanks and comment marks. */
const before = /(?:\s|\/\/+|\/\*+|\*+\/?|[:=])*/y;
const quoted = /"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'/y;
const restOfLine = /(?:(?!\*\/)[^\r\n\u2028\u2029])*/y;
const harmless = /^(null|true|false|undefined|["']\$\{\w+\}["']),?$/;
/** In a list or a section: a mark of a comment, a text in quotes or a bare word with whether it is a name, a bracket. */
const item = /\/\/+|\/\*+|\*+\/|("(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|(?:(?!\*\/|\/\/)[^\s{}[\],:"'])+)(?=(\s*:)?)|[{}[\]]/g;

/**
 * The text of comments without the values that stand after a telling name: `token: "old"`, `password = old`, lists and sections over
 * several lines. Where it is not clear how far a value goes, the rest of the line goes.
 * @param text one comment, or several with nothing between them
 */
export function maskComments(text: string, options: { isTelling(name: string): boolean; placeholder: string }): string {
  let out = "";
  let at = 0;
  let name = "";
  part.lastIndex = 0;
  for (let found = part.exec(text); found; found = part.exec(text)) {
    const [word] = found;
    const leads = /^([:=]|is|was)$/i.test(word);
    if (!leads || !options.isTelling(name)) {
      name = leads || !/[\w$]/.test(word) ? "" : word;
      continue;
    }
    const start = endOf(before, text, part.lastIndex);
    const end = valueEnd(text, start);
    out += text.slice(at, start) + masked(text.slice(start, end), options.placeholder);
    at = end;
    part.lastIndex = end;
    name = "";
  }
  return out + text.slice(at);
}

/** End of the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  if (!/[[{]/.test(text[start] ?? "")) {
    const end = endOf(quoted, text, start);
    return end > start ? end : start + text.slice(start, endOf(restOfLine, text, start)).trimEnd().length;
  }
  let depth = 0;
  item.lastIndex = start;
  for (let found = item.exec(text); found; found = item.exec(text)) {
    if (/^[{[]$/.test(found[0])) depth += 1;
    else if (/^[}\]]$/.test(found[0])) depth -= 1;
    if (depth === 0) return item.lastIndex;
  }
  return text.length;
}

function masked(value: string, placeholder: string): string {
  const one = (text: string) => {
    const quote = /^["']/.exec(text)?.[0] ?? "";
    return text === "" || harmless.test(text) ? text : quote + placeholder + quote;
  };
  if (!/^[[{]/.test(value)) return one(value);
  return value.replace(item, (whole: string, inner?: string, colon?: string) => {
    return inner === undefined || colon !== undefined ? whole : one(inner);
  });
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
