import type { ModelToolSpec } from "svc/sdk";
import { badRequest } from "./errors.ts";

/** Tools that one request may define. */
export const MAX_TOOLS = 1_000;

/** Tool call that the caller demands: any of its tools, or a named one. */
export type Demand = { tool?: string };

export interface ClientTools {
  /** Tools the model may call and the caller runs; already narrowed to what `tool_choice` allows. */
  clientTools: ModelToolSpec[];
  demand: Demand | undefined;
}

/** Whether a request speaks of `functions` instead of `tools`; its answer has the same form. */
export interface CallForm {
  isLegacy: boolean;
}

/**
 * Reads `tools` and `tool_choice`. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseTools(tools: unknown, choice: unknown): ClientTools {
  const specs = parseSpecs(tools);
  // Only the caller's own tools are its to choose; the agent's keep working inside.
  if (choice === "none") return { clientTools: [], demand: undefined };
  if (choice == null || choice === "auto") return { clientTools: specs, demand: undefined };
  if (choice === "required") {
    if (specs.length === 0) throw invalid("tool_choice=required needs tools.");
    return { clientTools: specs, demand: {} };
  }
  const name = pinnedName(choice);
  const pinned = specs.filter((spec) => spec.name === name);
  if (pinned.length === 0) throw invalid(`tool_choice names "${name}", which is not one of the tools.`);
  return { clientTools: pinned, demand: { tool: name } };
}

/**
 * Reads the legacy fields `functions` and `function_call`, if there are any, else `tools` and `tool_choice`. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseCallFields(fields: Record<string, unknown>): ClientTools & CallForm {
  const { functions, function_call: call, tools, tool_choice: choice } = fields;
  const isEmpty = functions == null || (Array.isArray(functions) && functions.length === 0);
  if (isEmpty && (call == null || call === "none")) return { ...parseTools(tools, choice), isLegacy: false };
  if (tools != null || choice != null) throw invalid("functions and function_call cannot be sent beside them; use tools alone.");
  if (!Array.isArray(functions)) throw badRequest("functions: expected an array");
  if (call != null && call !== "auto" && call !== "none" && typeof asObject(call).name !== "string")
    throw badRequest("function_call: expected auto, none or an object with a name");
  const wrapped = functions.map((fn: unknown) => ({ type: "function", function: fn }));
  const pinned = typeof call === "object" && call !== null ? { type: "function", function: call } : call;
  return { ...parseTools(wrapped, pinned), isLegacy: true };
}

/** Instruction that tells the model about a demand, in addition to the vendor's own switch. */
export function demandInstruction(demand: Demand, tools: readonly ModelToolSpec[]): string {
  return demand.tool === undefined
    ? `You must answer by calling one of these tools: ${tools.map((tool) => tool.name).join(", ")}.`
    : `You must answer by calling the tool ${demand.tool}.`;
}

/** The message for a demand that was not met. */
export function unmetDemand(demand: Demand): string {
  const choice = demand.tool === undefined ? "required" : `function:${demand.tool}`;
  return `tool_choice=${choice} was not satisfied by the agent response`;
}

export function isMet(demand: Demand, calls: ReadonlyArray<{ name: string }>): boolean {
  return calls.some((call) => demand.tool === undefined || call.name === demand.tool);
}

function parseSpecs(tools: unknown): ModelToolSpec[] {
  if (tools == null) return [];
  if (!Array.isArray(tools)) throw invalid("tools must be an array.");
  if (tools.length > MAX_TOOLS) throw invalid(`${tools.length} tools; at most ${MAX_TOOLS}.`);
  const specs = tools.map((tool, i) => parseSpec(tool, `tools.${i}`));
  const names = new Set(specs.map((spec) => spec.name));
  if (names.size !== specs.length) throw invalid("two tools have the same name.");
  return specs;
}

function parseSpec(tool: unknown, path: string): ModelToolSpec {
  const { type, function: fn } = asObject(tool);
  if (type !== "function") throw invalid(`${path}.type must be "function".`);
  const { name, description, parameters, strict } = asObject(fn);
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw invalid(`${path}.function.name must have 1 to 64 letters, digits, _ or -.`);
  }
  if (description != null && typeof description !== "string") throw invalid(`${path}.function.description must be a string.`);
  if (parameters != null && (typeof parameters !== "object" || Array.isArray(parameters)))
    throw invalid(`${path}.function.parameters must be an object.`);
  return {
    name,
    description: description ?? "",
    inputSchema: (parameters as Record<string, unknown> | null | undefined) ?? { type: "object", properties: {} },
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

function pinnedName(choice: unknown): string {
  const { type, function: fn } = asObject(choice);
  const { name } = asObject(fn);
  if (type !== "function" || typeof name !== "string") throw invalid("tool_choice must be auto, none, required or a function.");
  return name;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function invalid(reason: string): Error {
  return badRequest(`Invalid tools/tool_choice: ${reason}`);
}
