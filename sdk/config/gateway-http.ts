import { z } from "zod";
import { durationMs, sizeBytes } from "./amounts.ts";
import { defaulted } from "./fields.ts";

const enabled = z.boolean().default(true).describe("Off: the surface answers 404");
const endpoint = z.strictObject({ enabled }).prefault({});

const urlAllowlist = z
  .array(z.string().min(1))
  .default([])
  .describe("Hosts that may be fetched from: exact, or `*.host` without the host itself; empty: any public one");

const images = (allowUrl: boolean) =>
  z
    .strictObject({
      allowUrl: z.boolean().default(allowUrl).describe("Fetch images that are given as addresses"),
      urlAllowlist,
    })
    .prefault({});

const files = z
  .strictObject({
    allowUrl: z.boolean().default(true).describe("Fetch files that are given as addresses"),
    urlAllowlist,
    allowedMimes: z
      .array(z.string().min(1))
      .default(["text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/pdf"])
      .describe("Types of files taken"),
    maxBytes: defaulted(sizeBytes(1, 100_000_000), 5 * 1024 * 1024).describe("Largest file"),
    maxChars: z.number().int().min(1).max(10_000_000).default(60_000).describe("Longest text of a file in the prompt"),
    maxRedirects: z.number().int().min(0).max(20).default(3).describe("Redirects followed"),
    timeoutMs: defaulted(durationMs(1, 600_000), 10_000, "10s").describe("Longest fetch"),
    pdf: z
      .strictObject({
        maxPages: z.number().int().min(1).max(1_000).default(4).describe("Pages read"),
        maxPixels: z.number().int().min(1).max(100_000_000).default(4_000_000).describe("Largest picture of a page"),
        minTextChars: z.number().int().min(0).max(1_000_000).default(200).describe("With less text the pages become pictures"),
      })
      .prefault({}),
  })
  .prefault({});

/** `gateway.http.*`: the HTTP APIs. */
export const gatewayHttpSchema = z
  .strictObject({
    maxBodyBytes: defaulted(sizeBytes(1024, 1_000_000_000), 20_000_000, "20mb").describe(
      "Largest request body; single paths may take less",
    ),
    endpoints: z
      .strictObject({
        models: endpoint,
        embeddings: endpoint,
        chatCompletions: z.strictObject({ enabled, images: images(false) }).prefault({}),
        responses: z
          .strictObject({
            enabled,
            maxUrlParts: z.number().int().min(0).max(100).default(8).describe("Parts of one request that may be addresses"),
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
          .describe("Value of that header"),
      })
      .prefault({}),
  })
  .meta({ reload: "hot" });
