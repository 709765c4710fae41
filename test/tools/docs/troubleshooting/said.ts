/** Words of a finding of `svc doctor`, with `<name>` where a value goes. */
export interface Said {
  message?: string;
  fix?: string;
}

/** Reads what the objects of a source that carry one of these ids say as `message` and `fix`. What is composed elsewhere is left out. */
export function saidIn(source: string, ids: ReadonlySet<string>): Map<string, Said> {
  const found = new Map<string, Said>();
  for (const match of source.matchAll(/"([a-z0-9-]{2,40}\/[a-z0-9-]{2,40})"/g)) {
    const [, id = ""] = match;
    if (!ids.has(id) || found.get(id)?.message !== undefined) continue;
    const object = objectAround(source, match.index);
    if (object === undefined) continue;
    const before = source.slice(Math.max(0, object.start - 1_500), object.start);
    const said = { message: textOf("message", object.text, before), fix: textOf("fix", object.text, before) };
    if (said.message !== undefined || said.fix !== undefined) found.set(id, defined(said));
  }
  return found;
}

function defined({ message, fix }: { message: string | undefined; fix: string | undefined }): Said {
  return { ...(message === undefined ? {} : { message }), ...(fix === undefined ? {} : { fix }) };
}

/** The object literal that a place stands in. */
function objectAround(source: string, at: number): { start: number; text: string } | undefined {
  let depth = 0;
  for (let start = at; start >= 0 && at - start < 1_500; start--) {
    if (source[start] === "}") depth++;
    if (source[start] !== "{" || depth-- > 0) continue;
    let open = 0;
    for (let end = start; end < source.length && end - start < 3_000; end++) {
      if (source[end] === "{") open++;
      if (source[end] === "}" && --open === 0) return { start, text: source.slice(start, end + 1) };
    }
  }
  return undefined;
}

/** The text of a property, or of the constant of that name before it. */
function textOf(name: string, object: string, before: string): string | undefined {
  const own = new RegExp(`\\b${name}:\\s*(?=["'\`])`).exec(object);
  if (own) return literalAt(object, own.index + own[0].length);
  if (!new RegExp(`\\b${name}\\s*[,}]`).test(object)) return undefined;
  const constant = [...before.matchAll(new RegExp(`\\bconst ${name} =\\s*(?=["'\`])`, "g"))].at(-1);
  return constant && literalAt(before, constant.index + constant[0].length);
}

function literalAt(source: string, start: number): string | undefined {
  const quote = source[start];
  let text = "";
  for (let i = start + 1; i < source.length; i++) {
    const char = source[i] as string;
    if (char === quote) return text;
    if (char === "\\") text += source[++i];
    else if (quote === "`" && source.startsWith("${", i)) {
      const end = endOfExpression(source, i + 2);
      text += placeholder(source.slice(i + 2, end));
      i = end;
    } else text += char;
  }
  return undefined;
}

function endOfExpression(source: string, start: number): number {
  let depth = 1;
  for (let i = start; i < source.length; i++) {
    if (source[i] === "{") depth++;
    if (source[i] === "}" && --depth === 0) return i;
  }
  return source.length;
}

/** `<path>` for `finding.path`, `<…>` for what is a constant or more than a name. */
function placeholder(expression: string): string {
  const name = /^[\w.?]*?(\w+)$/.exec(expression.trim())?.[1];
  return name === undefined || /^[A-Z_]+$/.test(name) ? "<…>" : `<${name}>`;
}
