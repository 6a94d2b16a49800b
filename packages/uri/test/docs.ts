import { readFileSync } from "node:fs";

const docs = new URL("../../../docs/", import.meta.url);

/** The parts of a vector in xdstp-uri.json. */
export interface Components {
  readonly scheme: "xdstp" | "http" | "file";
  readonly authority?: string;
  readonly resourceType?: string;
  readonly id: string;
  readonly contextParams?: Readonly<Record<string, string>>;
  readonly isGlob?: boolean;
  readonly directives?: readonly ({ readonly alt: Components } | { readonly entry: string })[];
}

/** A vector in xdstp-uri.json (xdstp-names.md section 14). */
export interface UriVector {
  readonly id: string;
  readonly input: string;
  readonly kind: "name" | "locator";
  readonly ok: boolean;
  readonly components?: Components;
  readonly canonical?: string;
  readonly error?: string;
}

/** A vector in glob-match.json. */
export interface GlobVector {
  readonly id: string;
  readonly glob: string;
  readonly name: string;
  readonly matches: boolean;
}

export const uriVectors = JSON.parse(readDoc("vectors/xdstp-uri.json")) as readonly UriVector[];
export const globVectors = JSON.parse(readDoc("vectors/glob-match.json")) as readonly GlobVector[];

/** Returns the text of one section of xdstp-names.md. */
export function sectionOfNames(number: number): string {
  const sections = readDoc("rules/xdstp-names.md").split(/^## /m);
  const found = sections.find((section) => section.startsWith(`${number}. `));
  if (found === undefined) throw new Error(`xdstp-names.md has no section ${number}`);
  return found;
}

function readDoc(path: string): string {
  return readFileSync(new URL(path, docs), "utf8");
}
