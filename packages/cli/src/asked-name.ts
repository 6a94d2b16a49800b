import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import {
  collectionTypeOf,
  isGlob,
  memberTypeOf,
  parseLocator,
  typeUrlFromType,
  type XdstpLocator,
} from "@xdstp/uri";
import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";

/** The name of a resource, and its type. */
export interface TypedName {
  readonly name: string;
  /** The type of the resources that are shown. For a list, this is the type of its members. */
  readonly typeUrl: string;
}

/** A name or a collection on the command line. */
export interface AskedName extends TypedName {
  /** `name`: one resource, also an entry of a list (`#entry=`). `glob`: a glob or `*`. `list`: a list collection, which contains its members and their order. */
  readonly kind: "name" | "glob" | "list";
  /** The number of locators that may be requested one after the other: the name and its alternatives (`#alt=`). */
  readonly places: number;
}

/** Returns the type under which the name itself is requested. For a list, this is the collection type. */
export function ownTypeUrl({ kind, typeUrl }: Pick<AskedName, "kind" | "typeUrl">): string {
  return kind === "list" ? collectionTypeOf(typeUrl) : typeUrl;
}

/** Reads a name of the command line. Throws a CliError for an invalid name, and for an opaque name without `--type`. */
export function askedName(call: CommandCall, name: string): AskedName {
  if (name === "") throw new CliError(2, "a name is empty; give the name of a resource");
  const given = typeFlag(call);
  if (!name.startsWith("xdstp:")) {
    if (given === undefined)
      throw new CliError(
        2,
        `${JSON.stringify(name)} does not say its type: give --type ${[...shortTypes.keys()].join("|")}, or a full message name`,
      );
    return {
      name,
      typeUrl: given,
      kind: name === "*" || isGlob(name) ? "glob" : "name",
      places: 1,
    };
  }
  const locator = locatorOf(name);
  const asked = { name, places: placesOf(locator), ...kindOf(locator, given) };
  if (given !== undefined && given !== asked.typeUrl)
    throw new CliError(
      2,
      `--type ${call.text("type") ?? ""} is another type than that of ${JSON.stringify(name)}; leave it out`,
    );
  return asked;
}

/** Returns the type URL of `--type`, or `undefined` if it is not given. Throws a CliError for an invalid type. */
export function typeFlag(call: CommandCall): string | undefined {
  const type = call.text("type");
  return type === undefined ? undefined : typeUrlFor(type);
}

/** Returns the kind of a locator. With `--type` of the collection type, a list is treated as one resource. */
function kindOf(
  locator: XdstpLocator,
  given: string | undefined,
): Pick<AskedName, "kind" | "typeUrl"> {
  const typeUrl = typeUrlFromType(locator.resourceType);
  const memberUrl = memberTypeOf(typeUrl);
  if (isGlob(locator)) return { kind: "glob", typeUrl };
  if (memberUrl === undefined || given === typeUrl) return { kind: "name", typeUrl };
  return {
    kind: locator.directives.some(({ kind }) => kind === "entry") ? "name" : "list",
    typeUrl: memberUrl,
  };
}

function placesOf({ directives }: XdstpLocator): number {
  const alt = directives.find(({ kind }) => kind === "alt");
  return alt?.kind === "alt" && alt.locator.scheme === "xdstp" ? 1 + placesOf(alt.locator) : 1;
}

function locatorOf(name: string): XdstpLocator {
  const parsed = parseLocator(name);
  if (!parsed.ok)
    throw new CliError(2, `${JSON.stringify(name)} is not an xdstp name: ${parsed.error.message}`, {
      rule: parsed.error.rule,
    });
  if (parsed.value.scheme !== "xdstp")
    throw new CliError(2, `${JSON.stringify(name)} is not an xdstp name`);
  return parsed.value;
}

/** Returns the type URL for `clusters`, `cluster`, a full message name or a type URL. Throws a CliError for another text. */
function typeUrlFor(text: string): string {
  const short = shortTypes.get(text) ?? shortTypes.get(`${text}s`);
  if (short !== undefined) return short;
  const name = text.startsWith("type.googleapis.com/")
    ? text.slice("type.googleapis.com/".length)
    : text;
  if (/^\w+(\.\w+)+$/.test(name)) return typeUrlOf(name);
  throw new CliError(
    2,
    `--type ${JSON.stringify(text)}: give ${[...shortTypes.keys()].join(", ")}, or a full message name`,
  );
}
