import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import { isGlob, parseLocator, typeUrlFromType } from "@xdstp/uri";
import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";

/** One thing that is asked for. */
export interface AskedName {
  readonly name: string;
  readonly typeUrl: string;
  /** It has members: it is a glob or `*`. */
  readonly isCollection: boolean;
}

/** What a name on the command line asks for. Throws a CliError where it is no name, or does not say its type. */
export function askedName(call: CommandCall, name: string): AskedName {
  if (name === "") throw new CliError(2, "a name is empty; nothing can have it");
  const type = call.text("type");
  const given = type === undefined ? undefined : typeUrlFor(type);
  if (!name.startsWith("xdstp:")) {
    if (given === undefined) throw new CliError(2, `${JSON.stringify(name)} does not say its type: give --type ${[...shortTypes.keys()].join("|")}, or a full message name`);
    return { name, typeUrl: given, isCollection: name === "*" };
  }
  const own = ownType(name);
  if (given !== undefined && given !== own) throw new CliError(2, `--type ${String(type)} is another type than that of ${JSON.stringify(name)}; leave it out`);
  return { name, typeUrl: own, isCollection: isGlob(name) };
}

function ownType(name: string): string {
  const parsed = parseLocator(name);
  if (!parsed.ok) throw new CliError(2, `${JSON.stringify(name)} is no xdstp name: ${parsed.error.message}`);
  if (parsed.value.scheme !== "xdstp") throw new CliError(2, `${JSON.stringify(name)} is no xdstp name`);
  return typeUrlFromType(parsed.value.resourceType);
}

/** `clusters`, `cluster`, a full message name or a type URL. */
function typeUrlFor(text: string): string {
  const short = shortTypes.get(text) ?? shortTypes.get(`${text}s`);
  if (short !== undefined) return short;
  const name = text.startsWith("type.googleapis.com/") ? text.slice("type.googleapis.com/".length) : text;
  if (/^\w+(\.\w+)+$/.test(name)) return typeUrlOf(name);
  throw new CliError(2, `--type ${JSON.stringify(text)}: give ${[...shortTypes.keys()].join(", ")}, or a full message name`);
}
