import type { Locator } from "./locator.ts";

/**
 * Returns warnings about a locator that a person wrote, and about the locators in its `alt`: they
 * are valid, but configuration should not use them (N-64, N-70, B-CTX-2). Not for names from the
 * wire.
 */
export function lintLocator(locator: Locator): readonly {
  /**
   * `reserved-value`: a parameter value to which later versions may give a meaning (N-64).
   * `entry-characters`: an entry name with characters that none of the published patterns allows
   * (N-70).
   */
  readonly code: "reserved-value" | "entry-characters";
  /** The key of the parameter; `entry` for an entry directive. */
  readonly key: string;
  /** The value, and what is wrong with it. */
  readonly message: string;
  /** The id of the rule in the rule book, such as `"N-64"`. */
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

/**
 * Returns true if an inline entry of a list may have this name for all clients: it has only
 * characters that every published pattern allows (N-70).
 */
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
