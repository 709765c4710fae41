import { z } from "zod";
import { durationMs, sizeBytes } from "../../../sdk/config/amounts.ts";
import { defaulted } from "../../../sdk/config/fields.ts";

const enabled = z.boolean().default(true).describe("Off: the endpoint answers 404");
const endpoint = z.strictObject({ enabled }).prefault({});

const urlAllowlist = z
  .array(z.string().min(1))
  .default([])
  .describe("Hosts that may be fetched from: exact, or `*.host` without the host itself; empty: any public one");

const images = (allowUrl: boolean) =>
  z
    .strictObject({
      allowUrl: z.boolean().default(allowUrl).describe("Fetch images given as URLs"),
      urlAllowlist,
    })
    .prefault({});

const files = z
  .strictObject({
    allowUrl: z.boolean().default(true).describe("Fetch files given as URLs"),
    urlAllowlist,
    allowedMimes: z
      .array(z.string().min(1))
      .default(["text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/pdf"])
      .describe("Accepted file types"),
    maxBytes: defaulted(sizeBytes(1, 100_000_000), 5 * 1024 * 1024).describe("Maximum file size"),
    maxChars: z.number().int().min(1).max(10_000_000).default(60_000).describe("Maximum length of a file's text in the prompt"),
    maxRedirects: z.number().int().min(0).max(20).default(3).describe("Redirects followed"),
    timeoutMs: defaulted(durationMs(1, 600_000), 10_000, "10s").describe("Time limit of a fetch"),
    pdf: z
      .strictObject({
        maxPages: z.number().int().min(1).max(1_000).default(4).describe("Pages read"),
        maxPixels: z.number().int().min(1).max(100_000_000).default(4_000_000).describe("Maximum size of a page image"),
        minTextChars: z.number().int().min(0).max(1_000_000).default(200).describe("A PDF with less text is rendered as images"),
      })
      .prefault({}),
  })
  .prefault({});

/** `gateway.http.*`: the HTTP APIs. */
export const gatewayHttpSchema = z
  .strictObject({
    maxBodyBytes: defaulted(sizeBytes(1024, 1_000_000_000), 20_000_000, "20mb").describe(
      "Maximum size of a request body; some paths accept less",
    ),
    endpoints: z
      .strictObject({
        models: endpoint,
        embeddings: endpoint,
        chatCompletions: z.strictObject({ enabled, images: images(false) }).prefault({}),
        responses: z
          .strictObject({
            enabled,
            maxUrlParts: z.number().int().min(0).max(100).default(8).describe("Maximum number of URLs in one request"),
            images: images(true),
            files,
          })
          .prefault({}),
        toolsInvoke: endpoint,
      })
      .prefault({}),
    securityHeaders: z
      .strictObject({
        strictTransportSecurity: z
          .union([z.string().min(1), z.literal(false)])
          .optional()
          .describe("Value of the `Strict-Transport-Security` header"),
      })
      .prefault({}),
  })
  .meta({ reload: "hot" });
