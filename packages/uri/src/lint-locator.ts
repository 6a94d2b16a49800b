import type { Locator } from "./locator.ts";

/** What a linter should warn of, since it is accepted but configuration should not say it: in a locator that a person wrote, and in the locators of its `alt` (N-64, N-70, B-CTX-2). Not for names from the wire. */
export function lintLocator(locator: Locator): readonly {
  /** `reserved-value`: a parameter value that later versions may give a meaning (N-64). `entry-characters`: an entry outside the union of the published patterns (N-70). */
  readonly code: "reserved-value" | "entry-characters";
  /** The key of the parameter; `entry` for the directive. */
  readonly key: string;
  /** Names the value and says what is wrong with it. */
  readonly message: string;
  /** The id of the rule that says so, as in the rule book: `"N-64"`. */
  readonly rule: string;
}[] {
  const params = locator.scheme === "file" ? [] : [...locator.contextParams];
  const reserved = params
    .filter(([, value]) => /^[^\p{L}\p{N}]|^constraint:/u.test(value))
    .map(([key]) => reservedValue(key));
  const inner = locator.directives.flatMap((directive) => {
    if (directive.kind === "alt") return lintLocator(directive.locator);
    return /^[\w./~:-]+$/.test(directive.entry) ? [] : [entryCharacters];
  });
  return [...reserved, ...inner];
}

/** Whether an inline entry of ours may have this name: only what every published pattern allows (N-70). */
export function isPortableEntryName(name: string): boolean {
  return /^[\w.-]+$/.test(name);
}

type LocatorWarning = ReturnType<typeof lintLocator>[number];

function reservedValue(key: string): LocatorWarning {
  const message = `the value of ${JSON.stringify(key)} is reserved: begin it with a letter or digit, and not with constraint:`;
  return { code: "reserved-value", key, message, rule: "N-64" };
}

const entryCharacters: LocatorWarning = {
  code: "entry-characters",
  key: "entry",
  message: "other clients may reject this entry: use letters, digits and _ - . only",
  rule: "N-70",
};
