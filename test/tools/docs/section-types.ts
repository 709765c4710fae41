import type { SectionNode } from "../../../kernel/config/section-document.ts";

/** Writes `kernel/config/section-types.ts`: the types of the sections that bundled plugins own, from their written form. */
export function sectionTypes(sections: Readonly<Record<string, SectionNode>>): string {
  const members = (form: Form) => Object.entries(sections).map(([name, node]) => `  ${memberOf(name, node, form)}\n`);
  return [
    "// Written by npm run docs; do not edit.\n\n",
    'import type { SecretRef } from "../../sdk/config/fields.ts";\n\n',
    "/** Sections of the config that bundled plugins own, as parsed. */\n",
    `export interface PluginSections {\n${members("parsed").join("")}}\n\n`,
    "/** The same sections as written. */\n",
    `export interface PluginSectionsInput {\n${members("written").join("")}}\n`,
  ].join("");
}

type Form = "parsed" | "written";

function memberOf(key: string, node: SectionNode, form: Form): string {
  const mayLack = form === "written" ? node.absent !== undefined : node.absent === "optional";
  return `${key}${mayLack ? "?" : ""}: ${typeOf(node, form)}${mayLack ? " | undefined" : ""};`;
}

function typeOf(node: SectionNode, form: Form): string {
  const { type, items, properties } = node;
  if (node.amount) return form === "written" ? "string | number" : "number";
  if (node.sensitive) return form === "written" ? "string | SecretRef" : "string";
  if (node.enum) return namesOf(node, form).join(" | ");
  if (items) return `Array<${typeOf(items, form)}>`;
  if (node.propertyNames && node.additionalProperties) return `Record<string, ${typeOf(node.additionalProperties, form)}>`;
  if (properties)
    return `{ ${Object.entries(properties)
      .map(([key, child]) => memberOf(key, child, form))
      .join(" ")} }`;
  return type === "integer" ? "number" : String(type);
}

/** Names of a choice; an alias is written, never parsed. */
function namesOf({ enum: names = [], aliases = {} }: SectionNode, form: Form): string[] {
  const known = form === "written" ? names : names.filter((name) => !Object.hasOwn(aliases, name));
  return known.map((name) => JSON.stringify(name));
}
