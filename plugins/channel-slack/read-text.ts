const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
/** Names in the text of one message that are looked up. */
const MAX_NAMES = 20;

/** Persons and channels that a text of Slack names by their ids, without repetitions. Linear in the text. */
export function namedIds(text: string): string[] {
  const ids = [...text.matchAll(/<[@#]([A-Z0-9]{2,31})>/g)].map(([, id = ""]) => id);
  return [...new Set(ids)].slice(0, MAX_NAMES);
}

/**
 * Text as people see it: mentions and channels by name, links as `label (address)`, escapes undone. Linear in the text.
 * @param names names of persons and channels by id
 */
export function plainText(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/<([^<>]*)>|&(?:amp|lt|gt);/g, (whole, inside: string | undefined) =>
    inside === undefined ? (ENTITIES[whole] ?? whole) : plainPart(inside, names),
  );
}

function plainPart(inside: string, names: ReadonlyMap<string, string>): string {
  const bar = inside.indexOf("|");
  const [target, rawLabel] = bar < 0 ? [inside, ""] : [inside.slice(0, bar), inside.slice(bar + 1)];
  const label = unescaped(rawLabel);
  const id = target.slice(1);
  if (target.startsWith("@")) return `@${label || names.get(id) || id}`;
  if (target.startsWith("#")) return `#${(label || names.get(id) || id).replace(/^#/, "")}`;
  if (target.startsWith("!date^")) return label;
  if (target.startsWith("!subteam^")) return `@${(label || id.split("^")[1] || "group").replace(/^@/, "")}`;
  if (target.startsWith("!")) return `@${id}`;
  const address = unescaped(target);
  const shown = address.replace(/^mailto:/, "");
  return label === "" || label === address || label === shown ? shown : `${label} (${shown})`;
}

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}
