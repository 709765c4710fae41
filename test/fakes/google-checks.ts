import { isDeepStrictEqual } from "node:util";

export interface GooglePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id: string; name: string; args: unknown };
  functionResponse?: { id: string; name: string; response: object };
  inlineData?: { mimeType: string; data: string };
}

export interface GenerateRequest {
  contents: Array<{ role: string; parts: GooglePart[] }>;
  systemInstruction?: { parts: GooglePart[] };
  tools?: Array<{ functionDeclarations?: Array<{ name: string; description: string; parameters?: Schema }> }>;
  toolConfig?: { functionCallingConfig: { mode: string; allowedFunctionNames?: string[] } };
  generationConfig?: Record<string, unknown>;
}

type Schema = Record<string, unknown>;

const bodyKeys = new Set(["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"]);
const schemaKeys = new Set([
  ...[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "properties",
    "required",
    "anyOf",
    "minLength",
    "propertyOrdering",
  ],
]);
const formats = new Set(["enum", "date-time", "int32", "int64", "float", "double"]);

/** The vendor's mark for a call that no signature is known of. */
const unsigned = "skip_thought_signature_validator";

/** Reason why the API would refuse a request, or undefined. */
export function checkGenerate(body: unknown, issued: ReadonlyMap<string, object>): string | undefined {
  const request = body as GenerateRequest;
  const unknown = Object.keys(request).find((key) => !bodyKeys.has(key));
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}"`;
  return checkTools(request) ?? checkSchema(request.generationConfig?.responseSchema) ?? checkConversation(request, issued);
}

function checkTools({ tools = [], toolConfig }: GenerateRequest): string | undefined {
  const functions = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const names = functions.map(({ name }) => name);
  if (names.some((name) => !/^[a-zA-Z_][\w.:-]{0,127}$/.test(name))) return "Invalid function name.";
  if (new Set(names).size !== names.length) return "Duplicate function declaration found";
  const allowed = toolConfig?.functionCallingConfig.allowedFunctionNames ?? [];
  if (allowed.some((name) => !names.includes(name))) return "allowed_function_names is not a subset of function_declarations";
  for (const { parameters } of functions) {
    const problem = checkSchema(parameters);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkSchema(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { properties, items, anyOf, format, ...rest } = schema as Schema;
  const unknown = Object.keys(rest).find((key) => !schemaKeys.has(key));
  if (unknown !== undefined) return `Unknown name "${unknown}" at 'schema'`;
  if (format !== undefined && !formats.has(String(format))) return "only 'enum' and 'date-time' are supported for STRING type";
  const inner = [...Object.values((properties as object | undefined) ?? {}), items, ...((anyOf as unknown[] | undefined) ?? [])];
  return inner.map(checkSchema).find((problem) => problem !== undefined);
}

function checkConversation({ contents }: GenerateRequest, issued: ReadonlyMap<string, object>): string | undefined {
  if (contents.length === 0) return "contents is not specified";
  let open: string[] = [];
  for (const [i, { role, parts }] of contents.entries()) {
    const before = contents[i - 1];
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model.";
    if (before?.role === role && !before.parts[0]?.functionResponse) return "roles must alternate";
    if (parts.length === 0) return `contents[${i}].parts is empty`;
    if (parts.some((part) => Object.keys(part).length === 0 || part.text === "")) return "contents.parts must have data";
    const given = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.id] : []));
    if (!isDeepStrictEqual([...given].sort(), [...open].sort())) {
      return "the number of function response parts must be equal to the number of function call parts of the function call turn";
    }
    open = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.id] : []));
    for (const part of parts) {
      const sent = part.functionCall && issued.get(part.functionCall.id);
      if (sent && !isDeepStrictEqual(part, sent) && !isDeepStrictEqual(part, { thoughtSignature: unsigned, ...sent }))
        return "Thought signature is not valid";
    }
  }
  return open.length > 0 ? "function call without response" : undefined;
}
