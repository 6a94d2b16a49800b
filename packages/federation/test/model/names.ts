import { lengthDelimited } from "@xdstp/core/wire";
import { printLocator, type Directive, type XdstpLocator } from "@xdstp/uri";

export const THING = "type.googleapis.com/t.T";
export const LIST = "type.googleapis.com/t.TCollection";
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** The place of a resource. */
export interface Place {
  readonly authority: string;
  readonly id: string;
  /** An inline entry of the list of this id (C-LIST-7). */
  readonly entry?: string;
  /** The alternative, used if no server that could answer is reachable (C-ALT-2). */
  readonly alt?: Place;
}

/** The content of a name in a store. */
export type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "redirect"; readonly to: Place }
  | { readonly kind: "list"; readonly entries: readonly Entry[] };

export type Entry = { readonly name: string; readonly text: string } | { readonly to: Place };

/** Prints a place as it is requested. */
export function uriOf(place: Place): string {
  return printLocator(locatorOf(place, "t.T"));
}

/** Returns the first place, each with the following one as its alternative. */
export function chained(places: readonly Place[]): Place {
  return places.reduceRight((alt, place) => ({ ...place, alt }));
}

/** Returns the name of a place without directives. */
export function nameOf(typeUrl: string, { authority, id }: Place): string {
  return `xdstp://${authority}/${typeUrl.slice(typeUrl.indexOf("/") + 1)}/${id}`;
}

export function payloadOf(
  typeUrl: string,
  content: Content,
): { readonly typeUrl: string; readonly value: Uint8Array } {
  switch (content.kind) {
    case "text":
      return { typeUrl, value: Buffer.from(content.text) };
    case "redirect":
      return {
        typeUrl: REDIRECT,
        value: lengthDelimited(
          1,
          printLocator(locatorOf(content.to, typeUrl.slice(typeUrl.indexOf("/") + 1))),
        ),
      };
    case "list":
      return { typeUrl, value: Buffer.concat(content.entries.map(entryOf)) };
  }
}

function entryOf(entry: Entry): Uint8Array {
  if ("to" in entry) return lengthDelimited(1, lengthDelimited(1, uriOf(entry.to)));
  const any = Buffer.concat([lengthDelimited(1, THING), lengthDelimited(2, entry.text)]);
  return lengthDelimited(
    1,
    lengthDelimited(
      2,
      Buffer.concat([
        lengthDelimited(1, entry.name),
        lengthDelimited(2, `v ${entry.text}`),
        lengthDelimited(3, any),
      ]),
    ),
  );
}

function locatorOf({ authority, id, entry, alt }: Place, type: string): XdstpLocator {
  const directives: Directive[] = [
    ...(alt === undefined ? [] : [{ kind: "alt" as const, locator: locatorOf(alt, type) }]),
    ...(entry === undefined ? [] : [{ kind: "entry" as const, entry }]),
  ];
  return {
    scheme: "xdstp",
    authority,
    resourceType: entry === undefined ? type : `${type}Collection`,
    id,
    contextParams: new Map(),
    directives,
  };
}
