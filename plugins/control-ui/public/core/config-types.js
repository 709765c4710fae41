/**
 * Types of the config view; no module loads this one.
 *
 * @typedef {import("./config-paths.js").Path} Path
 * @typedef {Record<string, any>} Schema
 * @typedef {{ label?: string, help?: string, sensitive?: boolean, placeholder?: string, advanced?: boolean, order?: number }} Hint
 * @typedef {{ children: Map<string, Hints>, hint?: Hint }} Hints hints by the steps of their paths
 * @typedef {{ schema: Schema, hints: Hints }} Model
 * @typedef {{ path: Path, schema: Schema, hint: Hint, reload: string }} Node `reload`: how a change of it is applied
 * @typedef {{ kind: string, choices?: unknown[], min?: number, max?: number, isWhole?: boolean, takesNumbers?: boolean, maxLength?: number, item?: AnyKind }} AnyKind `switch`, `select`, `number`, `text`, `rows`, `secret`, `group`, else `json`
 * @typedef {{ path: Path, value?: unknown, text?: string, problem?: string }} Edit without a value the key is taken out; `text` is what was typed, `problem`
 *   why it stands for no value yet
 * @typedef {ReadonlyMap<string, Edit>} Edits by the written path
 * @typedef {{ path: Path, before: unknown, after: unknown, isSecret: boolean }} Change
 * @typedef {{ id: string, node: Node, kind: AnyKind, label: string, value: any, own: any, text: string | undefined, isBlocked: boolean, described: string,
 *   invalid: string | undefined }} Control
 */

export {};
