/** Addresses of the vendor; all end without a slash. */
export interface GeminiAddresses {
  /** With the version: `https://…/v1beta`. */
  base: string;
  upload: string;
  download: string;
}

const versionSegment = /\/v\d+(?:(?:alpha|beta)\d*)?(?=\/|$)/;

/**
 * Cleans up a base address as people write it: without trailing slashes, without the vendor's path for clients of another API (`/openai…`), with a version.
 * Pure.
 */
export function geminiAddresses(baseUrl: string): GeminiAddresses {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/openai(?:\/[\s\S]*)?$/, "").replace(/(?<!\/)\/+$/, "");
  const versioned = versionSegment.test(path) ? path : `${path}/v1beta`;
  const at = (service: string) => url.origin + versioned.replace(versionSegment, (version) => `${service}${version}`);
  return { base: at(""), upload: at("/upload"), download: at("/download") };
}
