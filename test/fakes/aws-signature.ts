import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface AwsIdentity {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** One clock of both sides; the vendor allows five minutes. */
const MAX_SKEW_MS = 300_000;

/**
 * Checks a signature of version 4 by making it again from the request (docs.aws.amazon.com, "Create a signed AWS API request").
 * @returns what is wrong with it, or undefined
 */
export function signatureProblem(
  request: Pick<IncomingMessage, "method" | "url" | "headers" | "rawHeaders">,
  body: Buffer,
  expected: AwsIdentity & { region: string; service: string },
): { type: string; message: string } | undefined {
  const headers = request.headers as Record<string, string | undefined>;
  const given = request.rawHeaders.filter((_, i) => i % 2 === 0 && request.rawHeaders[i]?.toLowerCase() === "authorization");
  if (given.length !== 1) return { type: "MissingAuthenticationTokenException", message: `${given.length} authorization headers` };
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (!parts) return { type: "IncompleteSignatureException", message: "the authorization header has another form" };
  const [, accessKeyId, day, region, service, names = "", signature = ""] = parts;
  const date = headers["x-amz-date"] ?? "";
  if (accessKeyId !== expected.accessKeyId)
    return { type: "UnrecognizedClientException", message: "The security token included in the request is invalid." };
  if (headers["x-amz-security-token"] !== expected.sessionToken) {
    return { type: "UnrecognizedClientException", message: "The security token included in the request is invalid." };
  }
  if (region !== expected.region || service !== expected.service || !date.startsWith(String(day))) {
    return {
      type: "InvalidSignatureException",
      message: `Credential should be scoped to ${expected.region}/${expected.service}, got ${region}/${service}`,
    };
  }
  if (Math.abs(parseDate(date) - Date.now()) > MAX_SKEW_MS) return { type: "InvalidSignatureException", message: "Signature expired" };
  const bodyHash = sha256(body);
  if ((headers["x-amz-content-sha256"] ?? bodyHash) !== bodyHash) {
    return { type: "InvalidSignatureException", message: "x-amz-content-sha256 is not that of the body" };
  }
  const signed = names.split(";");
  const mustBeSigned = ["host", "x-amz-date", ...(expected.sessionToken === undefined ? [] : ["x-amz-security-token"])];
  if (mustBeSigned.some((name) => !signed.includes(name))) return { type: "InvalidSignatureException", message: "a header is not signed" };
  const canonical = canonicalRequest(request, signed, bodyHash);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const key = [day as string, region, service, "aws4_request"].reduce<Buffer>(
    (now, part) => hmac(now, part as string),
    Buffer.from(`AWS4${expected.secretAccessKey}`),
  );
  if (timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex"))) return undefined;
  return {
    type: "InvalidSignatureException",
    // As the vendor does, with everything that was signed.
    message: `The request signature we calculated does not match the signature you provided.\n\nThe Canonical String should have been\n'${canonical}'`,
  };
}

function canonicalRequest(request: Pick<IncomingMessage, "method" | "url" | "headers">, signed: string[], bodyHash: string): string {
  const [path = "/", query = ""] = (request.url ?? "/").split("?");
  // Every service but S3 encodes the path once more.
  const uri = path
    .split("/")
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`))
    .join("/");
  const lines = signed.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? "")
        .trim()
        .replace(/\s+/g, " ")}`,
  );
  return [request.method, uri, query.split("&").sort().join("&"), ...lines, "", signed.join(";"), bodyHash].join("\n");
}

function parseDate(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
