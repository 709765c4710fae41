import { z } from "zod";

/** Method names, as the control protocol takes them. */
const methodName = z
  .string()
  .max(128)
  .regex(/^[a-z][\w-]*(\.[a-z][\w-]*)*$/, 'expected the name of a method, such as "hello.greet"');
const label = z.string().min(1).max(200);
const line = z.string().max(2_000);
const fieldName = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,63}$/, "expected a letter, then up to 63 letters, digits, _ and -")
  .refine((name) => !Object.hasOwn(Object.prototype, name), "expected another name");

const field = z
  .strictObject({
    name: fieldName,
    label,
    type: z.enum(["text", "number", "boolean", "select"]),
    options: z.array(line).min(1).max(200).optional(),
    value: z.union([line, z.number(), z.boolean()]).optional(),
  })
  .superRefine(({ type, options, value }, ctx) => {
    const wrong = (path: string, message: string) => ctx.addIssue({ code: "custom", path: [path], message });
    if (type === "select" && options === undefined) wrong("options", "expected the texts to choose from");
    if (type !== "select" && options !== undefined) wrong("options", 'only a field of type "select" has options');
    if (value === undefined) return;
    if (type === "select" && !options?.includes(value as string)) wrong("value", "expected one of its options");
    if (type !== "select" && typeof value !== (type === "text" ? "string" : type)) wrong("value", `expected what its type "${type}" says`);
  });

const block = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    label,
    value: line,
    level: z.enum(["ok", "warning", "error"]).optional(),
  }),
  z.strictObject({ kind: z.literal("keyValue"), rows: z.array(z.strictObject({ key: label, value: line })).max(200) }),
  z
    .strictObject({
      kind: z.literal("table"),
      columns: z.array(z.string().max(200)).min(1).max(20),
      rows: z.array(z.array(line).max(20)).max(500),
    })
    .superRefine(({ columns, rows }, ctx) => {
      const odd = rows.findIndex((row) => row.length !== columns.length);
      if (odd >= 0) ctx.addIssue({ code: "custom", path: ["rows", odd], message: `expected ${columns.length} cells, one for each column` });
    }),
  z.strictObject({ kind: z.literal("markdown"), text: z.string().max(65_536) }),
  z.strictObject({
    kind: z.literal("form"),
    method: methodName,
    fields: z
      .array(field)
      .min(1)
      .max(32)
      .refine((fields) => new Set(fields.map(({ name }) => name)).size === fields.length, "two fields have the same name"),
    submit: label,
  }),
  z.strictObject({ kind: z.literal("command"), label, method: methodName, params: z.record(z.string(), z.json()).optional() }),
]);

/** Answer of the `load` of a data panel, as far as the page can draw it. */
export const panelContent = z.strictObject({ title: label, blocks: z.array(block).max(64) });

/** Content of a data panel that was checked. */
export type PanelContent = z.infer<typeof panelContent>;

const subjectText = z.string().min(1).max(512);

/** Parameters of the method that loads a panel: what it is about. */
export const panelSubject = z.strictObject({
  sessionKey: subjectText.exactOptional(),
  runId: subjectText.exactOptional(),
  tool: subjectText.exactOptional(),
  toolCallId: subjectText.exactOptional(),
});
