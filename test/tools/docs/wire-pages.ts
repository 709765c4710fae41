import type { ReferenceInput } from "./pages.ts";
import { type SchemaNode, schemaRows, shapeOf, typeOf } from "./schema-rows.ts";
import { code, page, table } from "./table.ts";

/** Methods with what they take and what they answer. */
export function methodsPage({ methods, methodOwners }: ReferenceInput): string {
  const names = Object.keys(methods);
  const overview = table(
    ["Method", "Scope", "Answered by", "What it does"],
    Object.entries(methods).map(([name, { scope, about }]) => [code(name), scope, methodOwners[name] ?? "kernel", about]),
  );
  const sections = names.map((name) => methodSection(name, methods[name] as ReferenceInput["methods"][string]));
  return page(
    "Protocol methods",
    "Requests of the control protocol. Parameters are closed: an unknown one is refused. Answers may gain fields at any time. Needed and always: where the object around it is there. A failed request answers with one of the [errors](errors.md). Shapes with a name stand on [a page of their own](shapes.md).",
    overview,
    ...sections,
  );
}

function methodSection(name: string, { scope, about, params, result }: ReferenceInput["methods"][string]): string {
  const rows = schemaRows(params);
  const taken = table(
    ["Parameter", "Type", "Needed", "Remark"],
    rows.map((row) => [code(row.path), row.type, row.required ? "yes" : "", row.note]),
  );
  return [
    `## ${name}`,
    `${about}; scope \`operator.${scope}\`.`,
    rows.length > 0 ? taken : "No parameters.",
    ...described("Answer", result),
  ].join("\n\n");
}

/** Events with what they carry. */
export function eventsPage({ events }: ReferenceInput): string {
  const overview = table(
    ["Event", "Scope", "Droppable", "When"],
    Object.entries(events).map(([name, event]) => [code(name), event.scope, event.droppable ? "yes" : "", event.about]),
  );
  const sections = Object.entries(events).map(([name, { about, scope, payload }]) => {
    const who = scope === "none" ? "everybody who has shaken hands" : `scope \`operator.${scope}\``;
    return [`## ${name}`, `${about}; ${who}.`, ...described("Payload", payload)].join("\n\n");
  });
  return page(
    "Protocol events",
    "A receiver needs the scope named here (`none`: every connection that has shaken hands). A droppable event may be left out for a receiver that reads too slowly; the gap shows in `seq`. Payloads may gain fields at any time; always: where the object around it is there. Events of plugins are called `plugin.<id>.<name>`.",
    overview,
    ...sections,
  );
}

/** Objects that several answers and events have in common. */
export function shapesPage({ shapes }: ReferenceInput): string {
  const sections = Object.entries(shapes).map(([name, schema]) => [`## ${name}`, ...described("", schema)].join("\n\n"));
  return page("Shapes", "Objects that several answers and events of the control protocol have in common.", ...sections);
}

/** One table, or one for each form that it may have. */
function described(word: string, schema: SchemaNode): string[] {
  const shape = shapeOf(schema);
  if (shape !== undefined) return [`${word}: ${linked(shape)}.`];
  const forms = (schema.oneOf ?? schema.anyOf ?? []).filter((form) => form.type !== "null");
  if (forms.length > 1 && forms.every((form) => form.properties)) {
    const titles = forms.map((form) => [tagOf(form, forms), form.description].filter(Boolean).join(": "));
    return [`${word}, one of these:`, ...forms.flatMap((form, i) => [titles[i] ? `**${titles[i]}**` : "**or**", fieldTable(form)])];
  }
  if (schema.type === "array") {
    const inner = schema.items && !shapeOf(schema.items) && schema.items.properties ? [fieldTable(schema.items)] : [];
    return [`${word}: ${shownType(schema)}.`, ...inner];
  }
  return schema.properties ? [...(word === "" ? [] : [`${word}:`]), fieldTable(schema)] : [`${word}: ${shownType(schema)}.`];
}

/** The key by which this form is told apart, and its value here. */
function tagOf(form: SchemaNode, forms: readonly SchemaNode[]): string {
  const key = Object.keys(form.properties ?? {}).find((name) => forms.every((one) => one.properties?.[name]?.const !== undefined));
  return key === undefined ? "" : `\`${key}: ${JSON.stringify(form.properties?.[key]?.const)}\``;
}

function fieldTable(schema: SchemaNode): string {
  return table(
    ["Field", "Type", "Always", "Remark"],
    schemaRows(schema).map((row) => [code(row.path), linkedType(row.type), row.required ? "yes" : "", remark(row.note)]),
  );
}

/** That a name is not empty goes without saying in an answer. */
function remark(note: string): string {
  return note.replace(/(?:^|; )at least 1(?: character)?$/, "");
}

function shownType(schema: SchemaNode): string {
  return linkedType(typeOf(schema));
}

/** Names of shapes begin with a capital; nothing else of a type does. */
function linkedType(type: string): string {
  return type.replace(/(?<![\w"])[A-Z][A-Za-z]+(?!["\w])/g, linked);
}

function linked(shape: string): string {
  return `[${shape}](shapes.md#${shape.toLowerCase()})`;
}
