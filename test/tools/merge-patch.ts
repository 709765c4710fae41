/** The merge of a patch into a config, as commands get it with the config file. */
export { applyMergePatch } from "../../kernel/config/merge-patch.ts";
