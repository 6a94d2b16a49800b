import type { RE2JS } from "@bufbuild/re2";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * A regular expression in the syntax of RE2. It finds a match anywhere in a text, in linear time.
 *
 * The engine is loaded when the first text is matched, because loading takes 13 ms and most
 * messages have no pattern.
 */
export function createPattern(pattern: string): (text: string) => boolean {
  let compiled: RE2JS | undefined;
  return (text) => {
    compiled ??= engine().compile(pattern);
    return compiled.test(text);
  };
}

function engine(): typeof RE2JS {
  return (require("@bufbuild/re2") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
