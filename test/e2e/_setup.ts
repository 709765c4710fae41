// Imported before `setup-shared.ts` looks at the process, because the browser's library changes it at its first import.
import "playwright-core";
