import { isRecord, type ModelToolSpec } from "svc/sdk";
import { badRequest } from "../errors.ts";
import { type ClientTools, MAX_TOOLS } from "../tools.ts";

/** The caller's tools, and both fields as the response object repeats them. */
export interface ResponseTools extends ClientTools {
  echo: { tools: object[]; toolChoice: unknown };
}

/**
 * Reads `tools` and `tool_choice` in the flat form of this API. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseResponseTools(tools: unknown, choice: unknown): ResponseTools {
  const specs = parseSpecs(tools);
  const echoed = specs.map(({ name, description, inputSchema, strict }, i) => {
    const given = (tools as Array<Record<string, unknown>>)[i];
    return {
      type: "function",
      name,
      description: given?.description == null ? null : description,
      parameters: given?.parameters == null ? null : inputSchema,
      strict: strict ?? null,
    };
  });
  const { clientTools, demand, toolChoice } = choose(specs, choice);
  return { clientTools, demand, echo: { tools: echoed, toolChoice } };
}

type Choice = ClientTools & { toolChoice: unknown };

function choose(specs: ModelToolSpec[], choice: unknown): Choice {
  // Only the caller's own tools are its to choose; the agent's keep working inside.
  if (choice === "none") return { clientTools: [], demand: undefined, toolChoice: "none" };
  if (choice == null || choice === "auto") return { clientTools: specs, demand: undefined, toolChoice: "auto" };
  if (choice === "required") {
    if (specs.length === 0) throw invalid("tool_choice", "required needs tools");
    return { clientTools: specs, demand: {}, toolChoice: "required" };
  }
  if (isRecord(choice) && choice.type === "allowed_tools") return chooseAllowed(specs, choice);
  const name = nameOf(choice);
  if (name === undefined) throw invalid("tool_choice", "expected auto, none, required, a function or allowed_tools");
  const pinned = specs.filter((spec) => spec.name === name);
  if (pinned.length === 0) throw invalid("tool_choice", `names "${name}", which is not one of the tools`);
  return { clientTools: pinned, demand: { tool: name }, toolChoice: { type: "function", name } };
}

/** The tools that are not allowed are not shown to the model at all. */
function chooseAllowed(specs: ModelToolSpec[], { mode = "auto", tools }: Record<string, unknown>): Choice {
  if (mode !== "auto" && mode !== "required") throw invalid("tool_choice.mode", "expected auto or required");
  if (!Array.isArray(tools) || tools.length === 0) throw invalid("tool_choice.tools", "expected a list of functions");
  if (tools.length > MAX_TOOLS) throw invalid("tool_choice.tools", `${tools.length} functions; at most ${MAX_TOOLS}`);
  const known = new Set(specs.map((spec) => spec.name));
  const names = (tools as unknown[]).map((tool, i) => {
    const name = nameOf(tool);
    if (name === undefined) throw invalid(`tool_choice.tools.${i}`, "expected a function with its name");
    if (!known.has(name)) throw invalid(`tool_choice.tools.${i}`, `"${name}" is not one of the tools`);
    return name;
  });
  const allowed = new Set(names);
  const clientTools = specs.filter(({ name }) => allowed.has(name));
  const toolChoice = { type: "allowed_tools", mode, tools: names.map((name) => ({ type: "function", name })) };
  return { clientTools, demand: mode === "required" ? {} : undefined, toolChoice };
}

/** Name of a chosen function, in the form of this API or nested as in chat completions. */
function nameOf(choice: unknown): string | undefined {
  if (!isRecord(choice) || choice.type !== "function") return undefined;
  const name = isRecord(choice.function) ? choice.function.name : choice.name;
  return typeof name === "string" ? name : undefined;
}

function parseSpecs(tools: unknown): ModelToolSpec[] {
  if (tools == null) return [];
  if (!Array.isArray(tools)) throw invalid("tools", "expected array");
  if (tools.length > MAX_TOOLS) throw invalid("tools", `${tools.length} tools; at most ${MAX_TOOLS}`);
  const specs = (tools as unknown[]).map((tool, i) => parseSpec(tool, `tools.${i}`));
  if (new Set(specs.map((spec) => spec.name)).size !== specs.length) throw invalid("tools", "two tools have the same name");
  return specs;
}

function parseSpec(tool: unknown, path: string): ModelToolSpec {
  if (!isRecord(tool)) throw invalid(path, "expected object");
  const { type, name, description, parameters, strict } = tool;
  if (type !== "function") throw invalid(`${path}.type`, `${printed(type)} is not supported; only tools of type "function" are`);
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw invalid(`${path}.name`, "expected 1 to 64 letters, digits, _ or -");
  if (description != null && typeof description !== "string") throw invalid(`${path}.description`, "expected string");
  if (parameters != null && !isRecord(parameters)) throw invalid(`${path}.parameters`, "expected object");
  return {
    name,
    description: description ?? "",
    inputSchema: parameters ?? { type: "object", properties: {} },
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

function printed(type: unknown): string {
  return typeof type === "string" ? `"${type.slice(0, 64)}"` : typeof type;
}

function invalid(path: string, reason: string): Error {
  return badRequest(`${path}: ${reason}`);
}
