/** Ids of plugins; they name folders and config keys too, so nothing that means something in a path is in it. */
export const pluginIdPattern = /^[a-z][a-z0-9-]{1,47}$/;
