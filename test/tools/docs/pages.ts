import { type SchemaNode, type SchemaRow, schemaRows } from "./schema-rows.ts";
import { code, page, table } from "./table.ts";

/** Values of the code that the reference pages are written from. */
export interface ReferenceInput {
  config: SchemaNode;
  /** What an empty config file means. */
  configDefaults: unknown;
  /** JSON Schema of each plugin's own config, by plugin id. */
  pluginConfigs: Record<string, SchemaNode>;
  methods: Record<string, { scope: string; about: string; params: SchemaNode }>;
  /** Method → plugin that answers it. */
  methodOwners: Record<string, string>;
  events: Record<string, { scope: string; droppable: boolean; about: string }>;
  hooks: Record<string, { kind: string; timeoutMs: number; permission?: string; about: string }>;
  errors: ReadonlyArray<{
    code: string;
    owner: string;
    message: string;
    http: number;
    rpc: string;
    details?: string;
    exit?: number;
    retryable?: boolean;
  }>;
}

/** File name → content. */
export function referencePages(input: ReferenceInput): Map<string, string> {
  return new Map([
    ["config.md", configPage(input)],
    ["methods.md", methodsPage(input)],
    ["events.md", eventsPage(input)],
    ["hooks.md", hooksPage(input)],
    ["errors.md", errorsPage(input)],
  ]);
}

function configPage({ config, configDefaults, pluginConfigs }: ReferenceInput): string {
  const sections = Object.entries(config.properties ?? {}).map(([section, node]) => {
    const rows = schemaRows({ properties: { [section]: node } }).map((row) => withDefault(row, configDefaults));
    return `## ${section}\n\n${configTable(rows)}`;
  });
  const plugins = Object.entries(pluginConfigs)
    .filter(([, schema]) => Object.keys(schema.properties ?? {}).length > 0)
    .map(([id, schema]) => `## plugins.entries.${id}.config\n\n${configTable(schemaRows(schema))}`);
  return page(
    "Config keys",
    "The file is JSON5; unknown keys are errors. A duration is a number of milliseconds or a text such as `30s`; a size is a number of bytes or a text such as `20mb`.",
    ...sections,
    ...plugins,
  );
}

/** Durations and sizes are converted when they are read, and JSON Schema drops their defaults: those come from a parsed empty file. */
function withDefault(row: SchemaRow, defaults: unknown): SchemaRow {
  if (row.default !== "") return row;
  const value = row.path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], defaults);
  return value === undefined || typeof value === "object" ? row : { ...row, default: JSON.stringify(value) };
}

function configTable(rows: SchemaRow[]): string {
  return table(
    ["Key", "Type", "Default", "Remark"],
    rows.map((row) => [code(row.path), row.type, code(row.default), row.note]),
  );
}

function methodsPage({ methods, methodOwners }: ReferenceInput): string {
  const names = Object.keys(methods);
  const overview = table(
    ["Method", "Scope", "Answered by", "What it does"],
    names.map((name) => {
      const method = methods[name] as ReferenceInput["methods"][string];
      return [code(name), method.scope, methodOwners[name] ?? "kernel", method.about];
    }),
  );
  const params = names
    .map((name) => ({ name, rows: schemaRows((methods[name] as ReferenceInput["methods"][string]).params) }))
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ name, rows }) =>
        `## ${name}\n\n${table(
          ["Parameter", "Type", "Needed", "Remark"],
          rows.map((row) => [code(row.path), row.type, row.required ? "yes" : "", row.note]),
        )}`,
    );
  return page(
    "Protocol methods",
    "Requests of the control protocol. Parameters are closed: an unknown one is refused. Results may gain fields at any time.",
    overview,
    ...params,
  );
}

function eventsPage({ events }: ReferenceInput): string {
  return page(
    "Protocol events",
    "A receiver needs the scope named here (`none`: every connection that has shaken hands). A droppable event may be left out for a receiver that reads too slowly; the gap shows in `seq`. Events of plugins are called `plugin.<id>.<name>`.",
    table(
      ["Event", "Scope", "Droppable", "When"],
      Object.entries(events).map(([name, event]) => [code(name), event.scope, event.droppable ? "yes" : "", event.about]),
    ),
  );
}

function hooksPage({ hooks }: ReferenceInput): string {
  return page(
    "Hooks",
    [
      "What a plugin can listen to with `ctx.on(name, handler)`.",
      "",
      "- `gate`: the first `{ block: true, reason }` refuses; a handler that throws or takes too long refuses too.",
      "- `claim`: the first `{ handled: true, … }` wins; a handler that fails is skipped.",
      "- `modify`: each handler may return a new value; a handler that fails leaves the value as it was.",
      "- `observe`: results are ignored, all handlers are waited for.",
      "- `collect`: handlers call `report(item)`; a failure reports `{ ok: false }`.",
    ].join("\n"),
    table(
      ["Hook", "Kind", "Time-out", "Permission", "When"],
      Object.entries(hooks).map(([name, hook]) => [
        code(name),
        hook.kind,
        `${hook.timeoutMs / 1000} s`,
        code(hook.permission ?? ""),
        hook.about,
      ]),
    ),
  );
}

function errorsPage({ errors }: ReferenceInput): string {
  const sorted = [...errors].sort((a, b) => a.owner.localeCompare(b.owner, "en") || (a.code < b.code ? -1 : 1));
  return page(
    "Error codes",
    "A code means one thing for ever. `details` is what stands in `error.details.code` on the wire; `exit` is the exit code of a command that fails with it.",
    table(
      ["Code", "Defined by", "Message", "HTTP", "Protocol", "details", "Exit", "Retry"],
      sorted.map((e) => [
        code(e.code),
        e.owner,
        e.message.replaceAll("<", "&lt;"),
        String(e.http),
        e.rpc,
        code(e.details ?? ""),
        e.exit === undefined ? "" : String(e.exit),
        e.retryable ? "yes" : "",
      ]),
    ),
  );
}
