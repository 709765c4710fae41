/** Part of a page in which its own word on its encoding stands. */
const HEAD_BYTES = 1_024;

/** Kind of a file, by the type that its server names. */
export function kindOf(mime: string): "html" | "text" | "other" {
  const type = typeOf(mime);
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  const isText = type.startsWith("text/") || type.endsWith("+json") || type.endsWith("+xml");
  return isText || ["application/json", "application/xml", "application/javascript", "application/yaml"].includes(type) ? "text" : "other";
}

/** The type that a server names, where it is one: it stands outside of the frame, where no word of a stranger may. */
export function namedType(mime: string): string | undefined {
  return /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,80}$/.exec(typeOf(mime))?.[0];
}

/** Bytes as text: in the encoding that the server names, else the page itself, else UTF-8. What does not fit becomes U+FFFD. */
export function decodeText(bytes: Buffer, mime: string): string {
  const named = /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(mime.slice(0, 200))?.[1];
  const own =
    kindOf(mime) === "html"
      ? /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(bytes.toString("latin1", 0, HEAD_BYTES))?.[1]
      : undefined;
  return decoderOf(named ?? own).decode(bytes);
}

function decoderOf(label: string | undefined): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label ?? "utf-8");
  } catch {
    return new TextDecoder(); // an encoding that nobody knows
  }
}

function typeOf(mime: string): string {
  return (mime.split(";", 1)[0] ?? "").trim().toLowerCase();
}
