/** For tests: a module of the page, as Node loads it. Typed as `any`, because these files are checked by a project of their own. */
export function pageModule(path: string) {
  return import(new URL(`./public/${path}`, import.meta.url).href);
}
