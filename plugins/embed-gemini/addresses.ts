import { googleApiBase, googleApiVersion } from "svc/sdk/internal";

/** Addresses of the vendor; all end without a slash. */
export interface GeminiAddresses {
  /** With the version: `https://…/v1beta`. */
  base: string;
  upload: string;
  download: string;
}

/** The vendor's addresses beside the one of the config, however people write that one. Pure. */
export function geminiAddresses(baseUrl: string): GeminiAddresses {
  const base = googleApiBase(baseUrl);
  const { origin, pathname } = new URL(base);
  const at = (service: string) => origin + pathname.replace(googleApiVersion, (version) => `${service}${version}`);
  return { base, upload: at("/upload"), download: at("/download") };
}
