import { asyncApiDocument } from "./asyncapi.ts";
import { jsonText } from "./json-text.ts";
import { type SchemaNode, type SchemaRow, schemaRows } from "./schema-rows.ts";
import { code, page, table } from "./table.ts";
import { eventsPage, methodsPage, shapesPage } from "./wire-pages.ts";

/** Values of the code that the reference pages are written from. */
export interface ReferenceInput {
  config: SchemaNode;
  /** Keys, and values as `key: value`, that this release does not serve, by the part that will. */
  unserved: Record<string, string[]>;
  /** JSON Schema of each plugin's own config, by plugin id. */
  pluginConfigs: Record<string, SchemaNode>;
  methods: Record<string, { scope: string; about: string; params: SchemaNode; result: SchemaNode }>;
  /** The handshake, which is a request too. */
  connect: { about: string; params: SchemaNode; result: SchemaNode };
  /** Named shapes that `result` and `payload` refer to. */
  shapes: Record<string, SchemaNode>;
  /** Method → plugin that answers it. */
  methodOwners: Record<string, string>;
  events: Record<string, { scope: string; droppable: boolean; about: string; payload: SchemaNode }>;
  hooks: Record<string, { kind: string; timeoutMs: number; permissions: readonly string[]; filters: readonly string[]; about: string }>;
  errors: ReadonlyArray<{
    code: string;
    owner: string;
    message: string;
    http: number;
    rpc: string;
    details?: string;
    /** Schemas of the other fields of `error.details`, by name. */
    fields: Readonly<Record<string, SchemaNode>>;
    exit?: number;
    retryable?: boolean;
  }>;
  /** Codes in `error.details.code` that are chosen when the error is made, with their meanings, by the error that carries them. */
  chosenDetailsCodes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The HTTP API. */
  openApi: object;
}

/** File name → content. */
export function referencePages(input: ReferenceInput): Map<string, string> {
  return new Map([
    ["config.md", configPage(input)],
    ["methods.md", methodsPage(input)],
    ["events.md", eventsPage(input)],
    ["shapes.md", shapesPage(input)],
    ["asyncapi.json", asyncApiDocument(input)],
    ["openapi.json", jsonText(input.openApi)],
    ["hooks.md", hooksPage(input)],
    ["errors.md", errorsPage(input)],
  ]);
}

function configPage({ config, pluginConfigs, unserved }: ReferenceInput): string {
  const sections = Object.entries(config.properties ?? {}).map(([section, node]) => {
    const rows = schemaRows({ properties: { [section]: node } });
    return `## ${section}\n\n${configTable(rows)}`;
  });
  const plugins = Object.entries(pluginConfigs)
    .filter(([, schema]) => Object.keys(schema.properties ?? {}).length > 0)
    .map(([id, schema]) => `## plugins.entries.${id}.config\n\n${configTable(schemaRows({ reload: "plugin", ...schema }))}`);
  return page(
    "Config keys",
    "The file is JSON5; unknown keys are errors. A duration is a number of the unit that its key names, or a text such as `30s` or `1h30m`; a size is a number of bytes or a text such as `20mb` (powers of 1000). A SecretRef is `{source, provider, id}` and says where a secret is kept.",
    [
      "**Live change**: what happens when the value is changed in the file of a running gateway.",
      "",
      "- `none`: the next one who reads the value sees it.",
      "- `hot`: the part that uses it takes it over.",
      "- `plugin`, `channel`: that plugin or channel is replaced, the others go on.",
      "- `restart`: the gateway restarts; `gateway.reload.mode` says whether by itself.",
    ].join("\n"),
    ...sections,
    ...plugins,
    [
      "## Not part of this release",
      "",
      "These keys and values are specified, and the part that will read them comes with a later release. `svc config set` and `svc config patch` refuse them, `svc config validate` ends with 1, and `svc doctor` reports an error. A gateway whose file holds one starts, runs without it, and says so in its log and in `svc status`.",
      "",
      table(
        ["Part", "Keys"],
        Object.entries(unserved).map(([part, keys]) => [part, keys.map(code).join(", ")]),
      ),
    ].join("\n"),
  );
}

function configTable(rows: SchemaRow[]): string {
  return table(
    ["Key", "Type", "Default", "Live change", "Remark"],
    rows.map((row) => [code(row.path), row.type, code(row.default), row.reload || "restart", row.note]),
  );
}

function hooksPage({ hooks }: ReferenceInput): string {
  return page(
    "Hooks",
    [
      "What a plugin can listen to with `ctx.on(name, handler)`.",
      "",
      "- `gate`: the first `{ block: true, reason }` refuses; a handler that throws, takes too long or answers with something else refuses too.",
      "- `claim`: the first `{ handled: true, … }` wins; a handler that fails is skipped.",
      "- `modify`: each handler may return a new value of the same shape; a handler that fails leaves the value as it was.",
      "- `observe`: results are ignored, all handlers are waited for.",
      "- `collect`: handlers call `report(item)`; a failure reports `{ ok: false }`.",
      "- `sync`: like `modify`, but nothing is waited for.",
      "",
      "A handler that fails three times in a row within ten minutes is not called for five minutes; a gate of it keeps refusing. The time-out is",
      "`timeoutMs` of the options, and `plugins.entries.<id>.hooks` beats it. Options `priority`, `filter` and `id` are described at `HookOptions`.",
    ].join("\n"),
    table(
      ["Hook", "Kind", "Time-out", "Permissions", "Filters", "When"],
      Object.entries(hooks).map(([name, hook]) => [
        code(name),
        hook.kind,
        hook.timeoutMs > 0 ? `${hook.timeoutMs / 1000} s` : "",
        hook.permissions.map(code).join(" "),
        hook.filters.map(code).join(" "),
        hook.about,
      ]),
    ),
  );
}

function errorsPage({ errors, chosenDetailsCodes }: ReferenceInput): string {
  const sorted = [...errors].sort((a, b) => a.owner.localeCompare(b.owner, "en") || (a.code < b.code ? -1 : 1));
  return page(
    "Error codes",
    "A code means one thing for ever. `details` is the value of `error.details.code` on the wire, followed by the other fields of `error.details`; `exit` is the exit code of a command that fails with it.",
    table(
      ["Code", "Defined by", "Message", "HTTP", "Protocol", "details", "Exit", "Retry"],
      sorted.map((e) => [
        code(e.code),
        e.owner,
        shownMessage(e.message),
        String(e.http),
        e.rpc,
        [code(e.details ?? ""), fieldsOf(e.fields)].filter((part) => part !== "").join("; "),
        e.exit === undefined ? "" : String(e.exit),
        e.retryable ? "yes" : "",
      ]),
    ),
    "## Codes in `error.details.code`",
    "Clients of the control protocol branch on these; `svc/sdk/client` has their types as `ErrorDetails`.",
    table(["details.code", "Error", "Meaning"], detailsRows(sorted, chosenDetailsCodes)),
  );
}

/** Fields with their types, as in `model` string. */
function fieldsOf(fields: ReferenceInput["errors"][number]["fields"]): string {
  const typeOf = ({ type = "any" }: SchemaNode) => [type].flat().join(" or ");
  return Object.entries(fields)
    .map(([name, schema]) => `${code(name)} ${typeOf(schema)}`)
    .join(", ");
}

/** Every code of the wire, by name: of the tables with the errors that carry it, and those that are chosen later. */
function detailsRows(errors: ReferenceInput["errors"], chosen: ReferenceInput["chosenDetailsCodes"]): string[][] {
  const fixed = errors.flatMap((e) => (e.details === undefined ? [] : [{ name: e.details, carrier: e.code, meaning: e.message }]));
  const later = Object.entries(chosen).flatMap(([carrier, codes]) =>
    Object.entries(codes).map(([name, meaning]) => ({ name, carrier, meaning })),
  );
  const rows = [...fixed, ...later];
  return [...new Set(rows.map(({ name }) => name))].sort().map((name) => {
    const own = rows.filter((row) => row.name === name);
    return [code(name), own.map(({ carrier }) => code(carrier)).join(", "), own.map(({ meaning }) => shownMessage(meaning)).join("; ")];
  });
}

function shownMessage(message: string): string {
  return message.replaceAll("<", "&lt;");
}
