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

/** A name of a type. */
export interface TypedName {
  readonly name: string;
  /** Of what is shown: of a list that of its members. */
  readonly typeUrl: string;
}

/** One requested name or collection. */
export interface AskedName extends TypedName {
  /** What it is: one name, also an entry of a list; a glob or `*`; a list, which says its members and their order. */
  readonly kind: "name" | "glob" | "list";
  /** How many places may be asked for it, one after the other: itself and its alternatives. */
  readonly places: number;
}

/** The type under which a name itself is requested: of a list its own. */
export function ownTypeUrl({ kind, typeUrl }: Pick<AskedName, "kind" | "typeUrl">): string {
  return kind === "list" ? collectionTypeOf(typeUrl) : typeUrl;
}

/** What a name on the command line asks for. Throws a CliError where it is not a name, or does not say its type. */
export function askedName(call: CommandCall, name: string): AskedName {
  if (name === "") throw new CliError(2, "a name is empty; give the name of a resource");
  const given = typeFlag(call);
  if (!name.startsWith("xdstp:")) {
    if (given === undefined)
      throw new CliError(
        2,
        `${JSON.stringify(name)} does not say its type: give --type ${[...shortTypes.keys()].join("|")}, or a full message name`,
      );
    return { name, typeUrl: given, kind: name === "*" ? "glob" : "name", places: 1 };
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

/** The type URL of `--type`. Throws a CliError where it is none. */
export function typeFlag(call: CommandCall): string | undefined {
  const type = call.text("type");
  return type === undefined ? undefined : typeUrlFor(type);
}

/** With its own type a list is one resource like others. */
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

/** `clusters`, `cluster`, a full message name or a type URL. */
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
