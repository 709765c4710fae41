import { ModelError } from "svc/sdk";
import { inArrivals, refusedAnswer, type VendorCall, type VendorFetch } from "svc/sdk/internal";
import { readAnswer } from "./answer.ts";
import { toChatBody } from "./request.ts";
import type { ChatSettings } from "./vendors.ts";

export interface Endpoint {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** Calls of the models of one server. */
export function createCall(settings: ChatSettings, { url, headers: given }: Endpoint, fetch: VendorFetch): VendorCall {
  const headers = Object.fromEntries(new Headers({ "content-type": "application/json", ...given }));
  return (req, signal) =>
    inArrivals(async function* () {
      const body = JSON.stringify(toChatBody(req, settings));
      const response = await fetch(url, { method: "POST", headers, body, signal });
      if (!response.ok) throw await refusedAnswer(response);
      if (!response.body) throw new ModelError("network", `provider "${settings.id}": the answer could not be understood`);
      // A reader that leaves early cancels the body, which closes the socket.
      yield* readAnswer(response.body, settings.id);
    });
}
