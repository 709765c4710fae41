import { commonErrors, defineCommand, isRecord, type JsonObject } from "svc/sdk";
import { jsonTextFault, strictJsonLimits } from "svc/sdk/internal";

/** `svc gateway call`: one request as it is on the wire; its payload is printed as JSON. */
export default defineCommand({
  path: ["gateway", "call"],
  summary: "Call one method of the gateway",
  details: "Prints the payload of the answer as JSON. A failed call exits with 1.",
  examples: [
    ["Health, collected now", `svc gateway call health --params '{"probe":true}'`],
    ["A run, waiting for its end", `svc gateway call agent --expect-final --params '{"message":"hi","idempotencyKey":"k1"}'`],
  ],
  positionals: [{ name: "method", required: true }],
  options: {
    params: { kind: "string", description: "Parameters as a JSON object", placeholder: "json" },
    "expect-final": { kind: "flag", description: "Wait for the final answer of a two-phase method" },
    json: { kind: "flag", description: "Report failures as JSON as well" },
  },
  rpc: true,
  run: async (cli, values, [method]) => {
    const params = parseParams(values.params);
    const onAccepted = () => cli.stderr.line(cli.color.dim("accepted; waiting for the final answer"));
    const payload = await cli.withClient((client) =>
      client.request(method as string, params, values["expect-final"] === true ? { onAccepted } : {}),
    );
    cli.stdout.json(payload ?? null);
    return 0;
  },
});

/** @throws {SvcError} `usage` unless the text is a JSON object */
export function parseParams(text: unknown): JsonObject {
  if (typeof text !== "string") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw commonErrors.usage({ message: `--params: expected a JSON object, got text that is not JSON (${(error as Error).message})` });
  }
  const fault = jsonTextFault(text, strictJsonLimits);
  if (fault !== undefined) throw commonErrors.usage({ message: `--params: the JSON is ${fault}` });
  if (isRecord(value)) return value;
  throw commonErrors.usage({ message: `--params: expected a JSON object, got ${Array.isArray(value) ? "an array" : typeof value}` });
}
