import { lengthDelimited } from "@xdstp/core/wire";
import { printLocator, type Directive, type XdstpLocator } from "@xdstp/uri";

export const THING = "type.googleapis.com/t.T";
export const LIST = "type.googleapis.com/t.TCollection";
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Where something is to be found. */
export interface Place {
  readonly authority: string;
  readonly id: string;
  /** An inline entry of the list of this id (C-LIST-7). */
  readonly entry?: string;
  /** Where else, when nobody can be reached who could say (C-ALT-2). */
  readonly alt?: Place;
}

/** What stands under a name of a store. */
export type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "redirect"; readonly to: Place }
  | { readonly kind: "list"; readonly entries: readonly Entry[] };

export type Entry = { readonly name: string; readonly text: string } | { readonly to: Place };

/** As it is asked for. */
export function uriOf(place: Place): string {
  return printLocator(locatorOf(place, "t.T"));
}

/** Each with those after it as its alternatives. */
export function chained(places: readonly Place[]): Place {
  return places.reduceRight((alt, place) => ({ ...place, alt }));
}

/** The name that a place without directives has. */
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
