import { texts } from "../texts/channels.js";

/**
 * Keys that a channel takes in the config, as fields of a form, and back. Pure.
 *
 * @typedef {{ type?: string | string[], properties?: Record<string, Schema>, additionalProperties?: boolean | Schema, required?: string[], enum?: unknown[],
 *   items?: Schema, default?: unknown, description?: string, sensitive?: boolean, minimum?: number, maximum?: number, [keyword: string]: unknown }} Schema
 * @typedef {Record<string, { label?: string, sensitive?: boolean }>} Hints
 * @typedef {"text" | "secret" | "number" | "switch" | "choice" | "list"} Kind
 * @typedef {{ name: string, path: string[], label: string, text: string, kind: Kind, options: string[], standard: string, isRequired: boolean, isMore: boolean,
 *   minimum?: number | undefined, maximum?: number | undefined }} Field
 * @typedef {Record<string, string>} Values by name of the field; an empty text is left out
 */

/** Channels that the config could have and has not. @param {Schema} schema of the whole config @param {readonly string[]} present */
export function channelsToSetUp(schema, present) {
  const { properties = {} } = schema.properties?.channels ?? {};
  return Object.keys(properties)
    .filter((id) => id !== "defaults" && !present.includes(id))
    .sort();
}

/**
 * Fields of one channel: what its own plugin asks for, the necessary ones first.
 * @param {Schema} schema of the whole config @param {Hints} hints @param {string} channel
 * @returns {Field[]}
 */
export function fieldsOf(schema, hints, channel) {
  const { properties: channels = {}, additionalProperties: body } = schema.properties?.channels ?? {};
  const common = Object.keys((typeof body === "object" ? body.properties : undefined) ?? {});
  const section = channels[channel] ?? {};
  const own = Object.entries(section.properties ?? {}).filter(([key]) => !common.includes(key));
  const place = { channel, hints };
  const fields = own.flatMap(([key, node]) => {
    const isRequired = section.required?.includes(key) === true;
    if (node.properties === undefined) return fieldOf([key], node, { ...place, isRequired, isBelow: false });
    return Object.entries(node.properties).flatMap(([below, child]) =>
      fieldOf([key, below], child, { ...place, isRequired: false, isBelow: true }),
    );
  });
  return fields.sort((a, b) => rank(a) - rank(b));
}

/** @param {Field} field */
function rank({ isRequired, isMore }) {
  return isRequired ? 0 : isMore ? 2 : 1;
}

/**
 * One field, or none where a form has no way to ask.
 * @param {string[]} path @param {Schema} node @param {{ channel: string, hints: Hints, isRequired: boolean, isBelow: boolean }} at
 * @returns {Field[]}
 */
function fieldOf(path, node, { channel, hints, isRequired, isBelow }) {
  const hint = hints[["channels", channel, ...path].join(".")] ?? {};
  const kind = kindOf(node, node.sensitive === true || hint.sensitive === true);
  if (kind === undefined) return [];
  const text = node.description ?? "";
  const standard = node.default === undefined ? "" : String(node.default);
  const { minimum, maximum } = node;
  return [
    {
      name: path.join("."),
      path,
      label: path.join("."),
      text,
      kind,
      standard,
      isRequired,
      minimum,
      maximum,
      options: (node.enum ?? []).map(String),
      isMore: !isRequired && (isBelow || standard !== "" || path[0] === "name" || /\bunset:/.test(text)),
    },
  ];
}

/** @param {Schema} node @param {boolean} isSecret @returns {Kind | undefined} */
function kindOf(node, isSecret) {
  if (node.enum) return "choice";
  if (isSecret) return "secret";
  if (node.type === "string") return "text";
  if (node.type === "integer" || node.type === "number") return "number";
  if (node.type === "boolean") return "switch";
  if (node.type === "array" && takesTexts(node.items)) return "list";
  return undefined;
}

/** @param {Schema | undefined} items @returns {boolean} */
function takesTexts(items) {
  const options = /** @type {Schema[] | undefined} */ (items?.anyOf);
  return items?.type === "string" || options?.some(({ type }) => type === "string") === true;
}

/** Section of the config as it was filled in; nothing that was left empty. @param {readonly Field[]} fields @param {Values} values @returns {Record<string, unknown>} */
export function sectionOf(fields, values) {
  /** @type {Record<string, unknown>} */
  const section = {};
  for (const field of fields) {
    const value = writtenValue(field, values[field.name] ?? "");
    if (value === undefined) continue;
    const [key = "", below] = field.path;
    section[key] = below === undefined ? value : { .../** @type {object} */ (section[key] ?? {}), [below]: value };
  }
  return section;
}

/** @param {Field} field @param {string} written */
function writtenValue({ kind }, written) {
  // Spaces of a secret are its own.
  const text = kind === "secret" ? written : written.trim();
  if (text === "") return undefined;
  if (kind === "number") return Number(text);
  if (kind === "switch") return text === "true";
  if (kind !== "list") return text;
  return text.split(/[\n,]/).flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
}

/** Problems of what was filled in, by name of the field. @param {readonly Field[]} fields @param {Values} values @returns {Record<string, string>} */
export function problemsOf(fields, values) {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, isRequired, minimum, maximum }) => {
      const written = (values[name] ?? "").trim();
      if (written === "") return isRequired ? [[name, texts.needed]] : [];
      if (kind !== "number") return [];
      const number = Number(written);
      if (!Number.isFinite(number)) return [[name, texts.expectedNumber]];
      const isOut = (minimum !== undefined && number < minimum) || (maximum !== undefined && number > maximum);
      return isOut ? [[name, texts.expectedNumberOf({ minimum: minimum ?? "any", maximum: maximum ?? "any" })]] : [];
    }),
  );
}

/** Lines of the config file that set a channel up by hand. @param {string} channel @param {readonly Field[]} fields */
export function snippetOf(channel, fields) {
  const shown = fields.filter(({ isMore, path }) => !isMore && path.length === 1);
  const lines = (shown.length > 0 ? shown : fields.filter(({ path }) => path.length === 1).slice(0, 2)).map(
    ({ name, kind, text }) => `    ${name}: ${exampleOf(kind)},${text === "" ? "" : ` // ${text}`}`,
  );
  return ["channels: {", `  ${/^[A-Za-z_]\w*$/.test(channel) ? channel : JSON.stringify(channel)}: {`, ...lines, "  },", "}"].join("\n");
}

/** @param {Kind} kind */
function exampleOf(kind) {
  if (kind === "number") return "0";
  if (kind === "switch") return "true";
  return kind === "list" ? '["…"]' : '"…"';
}
