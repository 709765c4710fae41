import type { ModelVendor } from "svc/sdk/internal";

/** The server on this machine. It has no key, so only an entry of the config brings it. */
export const vendors: readonly ModelVendor[] = [{ id: "ollama", name: "Ollama", baseUrl: "http://127.0.0.1:11434" }];
