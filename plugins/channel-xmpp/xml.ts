/** One element. Attributes and children are foreign text. */
export interface XmlElement {
  /** Name without its prefix. */
  name: string;
  /** Namespace that the prefix, or the default, stands for. */
  ns: string;
  attrs: ReadonlyMap<string, string>;
  children: ReadonlyArray<XmlElement | string>;
}

/** Attributes to write; those that are undefined are left out. */
type Attributes = Readonly<Record<string, string | undefined>>;

/** Text of XML that needs no escaping any more: only this file makes it. */
export class Xml {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Writes an element. `xmlns` is an attribute like others; strings among the children are text. */
export function xml(name: string, attrs: Attributes = {}, ...children: Array<Xml | string | undefined>): Xml {
  const written = Object.entries(attrs).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeXml(value).replace(/[\n\r\t]/g, (char) => `&#${char.charCodeAt(0)};`)}"`],
  );
  const inner = children.map((child) => (child === undefined ? "" : typeof child === "string" ? escapeXml(child) : child.text)).join("");
  return new Xml(`<${name}${written.join("")}${inner === "" ? "/>" : `>${inner}</${name}>`}`);
}

/** Text as it may stand in a document: characters that XML does not know are left out, as are halves of others. */
export function escapeXml(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (char) => escapes[char] as string);
}

/** First child element of this name, and namespace where one is given. */
export function childOf({ children }: XmlElement, name: string, ns?: string): XmlElement | undefined {
  for (const child of children) {
    if (typeof child !== "string" && child.name === name && (ns === undefined || child.ns === ns)) return child;
  }
  return undefined;
}

/** Child elements, of one name where one is given. */
export function childrenOf({ children }: XmlElement, name?: string): XmlElement[] {
  return children.filter((child): child is XmlElement => typeof child !== "string" && (name === undefined || child.name === name));
}

/** Text of an element itself, without that of its children. */
export function textOf(element: XmlElement | undefined): string {
  return element?.children.filter((child) => typeof child === "string").join("") ?? "";
}

/** Value of an attribute; empty where there is none. */
export function attrOf(element: XmlElement | undefined, name: string): string {
  return element?.attrs.get(name) ?? "";
}
