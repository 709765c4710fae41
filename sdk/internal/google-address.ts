export const googleApiVersion = /\/v\d+(?:(?:alpha|beta)\d*)?(?=\/|$)/;

/**
 * Cleans up an address of the Gemini API as people write it: without trailing slashes, without the vendor's path for clients of another API (`/openai…`),
 * with a version. Pure.
 */
export function googleApiBase(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/openai(?:\/[\s\S]*)?$/, "").replace(/(?<!\/)\/+$/, "");
  return url.origin + (googleApiVersion.test(path) ? path : `${path}/v1beta`);
}
