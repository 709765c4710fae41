const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
const characters = new Map(Object.entries(names).map(([character, entity]) => [entity, character]));

/** Text for an element or an attribute. Control characters, which XML 1.0 cannot hold, are left out. */
export function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replaceAll(/[&<>"']/g, (c) => names[c] as string);
}

/** The text behind the five named entities and numbered ones. */
export function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|[a-z]{2,4});/g, (entity, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (hex === undefined && decimal === undefined) return characters.get(entity) ?? entity;
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
