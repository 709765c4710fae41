import { readEnv } from "svc/sdk";

/** The plugin's environment. */
export type Env = Readonly<Record<string, string | undefined>>;

export const TOKEN_VARIABLE = "AWS_BEARER_TOKEN_BEDROCK";

/** The SDK takes any value but `false` for yes. */
export function isMetadataDisabled(env: Env): boolean {
  return (readEnv(env, "AWS_EC2_METADATA_DISABLED") ?? "false") !== "false";
}

/**
 * The environment of the thread that the AWS client runs in. The client and its credential chain read variables from nowhere else, and every variable
 * of the chain counts, so they get the plugin's whole environment.
 * @param metadata false: the address of instance metadata is never asked
 * @param token an API key of Bedrock instead of signatures; undefined: none, whatever the environment says
 */
export function threadEnv(env: Env, { metadata, token }: { metadata: boolean; token: string | undefined }): Record<string, string> {
  const { [TOKEN_VARIABLE]: _other, ...rest } = env;
  const set = Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(set),
    // The package is pinned to a release that runs on this Node; its warning would come with every start.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    ...(metadata ? {} : { AWS_EC2_METADATA_DISABLED: "true" }),
    ...(token === undefined ? {} : { [TOKEN_VARIABLE]: token }),
  };
}
