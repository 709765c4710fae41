/** A call of the API, as its checks need it. */
export interface DiscordRequest {
  method: string;
  /** Path below the version, decoded, with `:id` in place of ids. */
  route: string;
  body: Record<string, unknown> | undefined;
  files: ReadonlyArray<{ name: string; content: Buffer }>;
}

/** Refusal with a JSON error code. */
export interface Refusal {
  status: number;
  code: number;
  message: string;
}

const MAX_CHARS = 2_000;
/** Flag of a message whose addresses are not opened for a preview. */
const SUPPRESS_EMBEDS = 4;
const MESSAGE_KEYS = ["content", "nonce", "enforce_nonce", "allowed_mentions", "message_reference", "attachments", "flags"];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "POST /channels/:id/messages": MESSAGE_KEYS,
  "PATCH /channels/:id/messages/:id": ["content", "allowed_mentions", "flags"],
  "PATCH /webhooks/:id/:token/messages/@original": ["content", "allowed_mentions", "flags"],
  "POST /users/@me/channels": ["recipient_id"],
  "POST /applications/:id/commands": ["name", "description", "type"],
  "POST /interactions/:id/:token/callback": ["type", "data"],
};

/** Looks at the body of a call. @returns why it is wrong: a test expects none */
export function wrongBody({ method, route, body, files }: DiscordRequest): string | undefined {
  const allowed = KEYS[`${method} ${route}`];
  if (!allowed) return body === undefined && files.length === 0 ? undefined : "a body that this route does not take";
  if (!body) return "no body";
  const unknown = Object.keys(body).filter((key) => !allowed.includes(key));
  if (unknown.length > 0) return `unknown keys ${unknown.join(", ")}`;
  if (allowed.includes("content")) {
    if (typeof body.content !== "string") return "content is no text";
    const { parse } = (body.allowed_mentions ?? {}) as { parse?: unknown };
    const isNotice = route.startsWith("/webhooks");
    if (!isNotice && !(Array.isArray(parse) && parse.every((kind) => ["users", "roles", "everyone"].includes(String(kind)))))
      return `allowed_mentions ${JSON.stringify(body.allowed_mentions)}`;
    if (body.flags !== SUPPRESS_EMBEDS && !(isNotice && body.flags === undefined)) return `flags ${JSON.stringify(body.flags)}`;
  }
  if (body.nonce !== undefined && (typeof body.nonce !== "string" || body.nonce === "" || body.nonce.length > 25))
    return `nonce ${JSON.stringify(body.nonce)}`;
  if (body.enforce_nonce === true && body.nonce === undefined) return "enforce_nonce without nonce";
  const reference = body.message_reference as Record<string, unknown> | undefined;
  if (reference !== undefined && !/^\d+$/.test(String(reference.message_id))) return `message_reference ${JSON.stringify(reference)}`;
  if (files.some(({ name }, i) => name !== `files[${i}]`)) return `fields ${files.map(({ name }) => name).join(", ")}`;
  if (route === "/applications/:id/commands" && !/^[\p{Ll}\d_-]{1,32}$/u.test(String(body.name))) return `command ${String(body.name)}`;
  return undefined;
}

/** Answers of the API to a message that is well formed, and still none. */
export function messageRefusal({ content }: Record<string, unknown>, files: number): Refusal | undefined {
  const text = String(content ?? "");
  if (text.trim() === "" && files === 0) return { status: 400, code: 50_006, message: "Cannot send an empty message" };
  if ([...text].length > MAX_CHARS) return { status: 400, code: 50_035, message: "Invalid Form Body" };
  return undefined;
}

/** Parts of an upload: the JSON, and the files in their order. */
export async function partsOf(type: string, bytes: Buffer): Promise<Pick<DiscordRequest, "body" | "files">> {
  if (bytes.length === 0) return { body: undefined, files: [] };
  if (type.startsWith("application/json")) return { body: JSON.parse(bytes.toString()), files: [] };
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  const files: Array<{ name: string; content: Buffer }> = [];
  let body: DiscordRequest["body"];
  for (const [name, value] of form)
    if (name === "payload_json") body = JSON.parse(String(value));
    else if (typeof value !== "string") files.push({ name, content: Buffer.from(await value.arrayBuffer()) });
  return { body, files };
}
