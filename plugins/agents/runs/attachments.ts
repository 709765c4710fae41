import { limits, type RunRequest, SvcError } from "svc/sdk";

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Attachments as the protocol carries them, checked: pictures only, at most 6 MiB each. @throws {SvcError} `invalid-attachment` */
export function toImages(
  given: ReadonlyArray<{ type: string; mimeType: string; content: string }> | undefined,
): NonNullable<RunRequest["attachments"]> {
  return (given ?? []).map(({ mimeType, content }, index) => {
    const fail = (reason: string) => new SvcError("invalid-attachment", { index, reason });
    if (!imageTypes.includes(mimeType.toLowerCase())) throw fail(`type ${mimeType.slice(0, 60)}; expected one of ${imageTypes.join(", ")}`);
    const data = content.replace(/^data:[^,]{0,100};base64,/, "");
    if (data === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw fail("content is not base64");
    const bytes = Math.floor((data.length * 3) / 4);
    if (bytes > limits.imageMaxBytes) throw fail(`larger than ${limits.imageMaxBytes} bytes`);
    return { type: "image", mimeType: mimeType.toLowerCase(), data };
  });
}
