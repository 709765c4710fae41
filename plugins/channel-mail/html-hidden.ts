/** Look of an element, as far as it decides whether its text can be seen. Inherited by what stands inside. */
export interface Look {
  isHidden: boolean;
  /** `rrggbb`; undefined: not known, as of a picture or a gradient. */
  color: string | undefined;
  background: string | undefined;
}

export const PAGE: Look = { isHidden: false, color: "000000", background: "ffffff" };

/** Declarations of style sheets for a class, an id or a kind of element: `.x`, `#x`, `x`. */
export type Sheet = ReadonlyMap<string, string>;

const MAX_RULES = 2_000;
const MAX_DECLARATIONS = 2_000;

/** Reads rules with simple selectors. Rules for some screens only (`@media`) and those with combinations hide nothing here. */
export function readSheet(css: string): Sheet {
  const rules = new Map<string, string>();
  const plain = withoutComments(css);
  for (let at = 0; rules.size < MAX_RULES; ) {
    const open = plain.indexOf("{", at);
    if (open < 0) break;
    const selectors = plain.slice(at, open).trim();
    const close = selectors.startsWith("@") ? blockEnd(plain, open) : plain.indexOf("}", open);
    if (close < 0) break;
    if (!selectors.startsWith("@")) addRules(rules, selectors.slice(0, MAX_DECLARATIONS), plain.slice(open + 1, close));
    at = close + 1;
  }
  return rules;
}

function addRules(rules: Map<string, string>, selectors: string, declarations: string): void {
  for (const selector of selectors.split(",")) {
    const name = selector.trim().toLowerCase();
    const simple = /^(?:[a-z][a-z0-9]*)?([.#][\w-]+)$|^[a-z][a-z0-9]*$/.exec(name);
    if (!simple) continue;
    const key = simple[1] ?? name;
    const known = rules.get(key) ?? "";
    if (known.length < MAX_DECLARATIONS) rules.set(key, `${known};${declarations.slice(0, MAX_DECLARATIONS)}`);
  }
}

/** End of a block that holds blocks. */
function blockEnd(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at += 1) {
    const char = css[at];
    if (char === "{") depth += 1;
    else if (char === "}" && --depth === 0) return at;
  }
  return -1;
}

function withoutComments(css: string): string {
  let plain = "";
  for (let at = 0; at < css.length; ) {
    const open = css.indexOf("/*", at);
    if (open < 0) return plain + css.slice(at);
    plain += css.slice(at, open);
    const close = css.indexOf("*/", open + 2);
    if (close < 0) return plain;
    at = close + 2;
  }
  return plain;
}

/** Look of an element from its attributes, the style sheet and what it stands in. */
export function lookOf(tag: string, attributes: ReadonlyMap<string, string>, sheet: Sheet, parent: Look): Look {
  const sheetRules = [
    sheet.get(tag),
    ...(attributes.get("class") ?? "")
      .toLowerCase()
      .split(/\s+/)
      .slice(0, 20)
      .map((name) => sheet.get(`.${name}`)),
    sheet.get(`#${(attributes.get("id") ?? "").toLowerCase()}`),
  ];
  const style = declarations([...sheetRules, attributes.get("style")].filter((css) => css !== undefined).join(";"));
  const ownColor = style.get("color") ?? attributes.get("color");
  const ownBackground = style.get("background-color") ?? style.get("background") ?? attributes.get("bgcolor");
  return {
    isHidden: parent.isHidden || attributes.has("hidden") || hides(style),
    color: ownColor === undefined ? parent.color : colorOf(ownColor, parent.color),
    background: ownBackground === undefined ? parent.background : colorOf(ownBackground, parent.background),
  };
}

/** True when the text of an element cannot be told from what is behind it. */
export function isInvisible({ isHidden, color, background }: Look): boolean {
  return isHidden || (color !== undefined && background !== undefined && areAlike(color, background));
}

function declarations(css: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const declaration of css.slice(0, 4 * MAX_DECLARATIONS).split(";")) {
    const colon = declaration.indexOf(":");
    if (colon < 0) continue;
    const value = declaration.slice(colon + 1).replace(/!\s{0,20}important/i, "");
    found.set(declaration.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase());
  }
  return found;
}

function hides(style: ReadonlyMap<string, string>): boolean {
  const value = (name: string) => style.get(name) ?? "";
  const isZero = (name: string) => /^0*(?:\.0*)?(?:px|pt|em|rem|%)?$/.test(value(name)) && /0/.test(value(name));
  const pixels = (name: string) => {
    const [, number = "", unit = ""] = /^(-?\d{0,9}(?:\.\d{1,9})?)(px|pt|em|rem|%)?$/.exec(value(name)) ?? [];
    return number === "" ? undefined : Number(number) * (unit === "em" || unit === "rem" ? 16 : 1);
  };
  const isTiny = (name: string) => (pixels(name) ?? Number.POSITIVE_INFINITY) <= 2;
  const isFarOff = (name: string) => (pixels(name) ?? 0) <= -500;
  return (
    value("display") === "none" ||
    value("visibility") === "hidden" ||
    value("visibility") === "collapse" ||
    value("mso-hide") === "all" ||
    (style.has("font-size") && isTiny("font-size")) ||
    (style.has("opacity") && Number(value("opacity").replace("%", "")) <= 0.05) ||
    ((isZero("height") || isZero("max-height") || isZero("width") || isZero("max-width")) && /hidden|clip/.test(value("overflow"))) ||
    isFarOff("text-indent") ||
    isFarOff("left") ||
    isFarOff("top") ||
    isFarOff("margin-left") ||
    isFarOff("margin-top") ||
    /^rect\(\s{0,9}0/.test(value("clip")) ||
    value("color") === "transparent"
  );
}

const names: Readonly<Record<string, string>> = {
  white: "ffffff",
  black: "000000",
  snow: "fffafa",
  ivory: "fffff0",
  whitesmoke: "f5f5f5",
  ghostwhite: "f8f8ff",
  floralwhite: "fffaf0",
  red: "ff0000",
  green: "008000",
  blue: "0000ff",
  gray: "808080",
  grey: "808080",
  silver: "c0c0c0",
  yellow: "ffff00",
};

/** A colour as six digits; of several words the first that is one. `inherited` where it is said to be that, undefined where it cannot be read. */
function colorOf(text: string, inherited: string | undefined): string | undefined {
  const value = text.trim().toLowerCase().slice(0, 100);
  if (value === "inherit" || value === "transparent" || value === "none" || value === "") return inherited;
  const rgb = /rgba?\(\s{0,9}(\d{1,3})\s{0,9}[, ]\s{0,9}(\d{1,3})\s{0,9}[, ]\s{0,9}(\d{1,3})/.exec(value);
  if (rgb) return rgb.slice(1, 4).map((part) => Math.min(255, Number(part)).toString(16).padStart(2, "0")).join(""); // biome-ignore format: one step
  const hex = /#([\da-f]{6}|[\da-f]{3})(?![\da-f])/.exec(value)?.[1] ?? /^([\da-f]{6})$/.exec(value)?.[1];
  if (hex !== undefined) return hex.length === 6 ? hex : [...hex].map((digit) => digit + digit).join("");
  return value.split(/\s+/).map((word) => names[word]).find((name) => name !== undefined); // biome-ignore format: one step
}

/** Colours that differ by less are one to the eye. */
const ALIKE = 24;

function areAlike(one: string, other: string): boolean {
  const part = (color: string, at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [0, 2, 4].every((at) => Math.abs(part(one, at) - part(other, at)) < ALIKE);
}
