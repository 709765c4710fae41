/** Variables that a process and the model library need: folders, the model hub, graphics, certificates. Keys of others stay here. */
const wanted =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|SYSTEMROOT|LANG|LC_ALL|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|XDG_CACHE_HOME|HF_TOKEN|HF_TOKEN_PATH|HF_HOME|HF_ENDPOINT|MODEL_ENDPOINT|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|CUDA_VISIBLE_DEVICES|VK_.+|GGML_.+|NODE_LLAMA_CPP_.+)$/i;

/** The variables of the process that runs the model. Pure. */
export function childEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => wanted.test(entry[0]) && entry[1] !== undefined),
  );
}
