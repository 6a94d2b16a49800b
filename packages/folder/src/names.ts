import { parseName, printName } from "@xdstp/uri";
import { Fault, type FaultDetails, quote } from "./folder-problem.ts";
import { opaqueFolder, type Place } from "./place.ts";

/** Returns the name that the path of a file gives to its only resource. Throws a fault if that is not the name of a resource. */
export function nameOfPath(place: Place): string {
  const { authority, type, id } = place;
  if (authority === undefined) return opaqueName(id, place);
  rejectGlob(id);
  return printName({
    scheme: "xdstp",
    authority,
    resourceType: type.name,
    id,
    contextParams: new Map(),
  });
}

/** Returns a name in a file in canonical form. Throws a fault if it is not the name of a resource, or does not belong to this folder. */
export function nameInFile(name: string, place: Place): string {
  if (place.authority === undefined) return opaqueName(name, place);
  const parsed = parseName(name);
  if (!parsed.ok)
    throw new Fault(
      name.startsWith("xdstp:")
        ? { code: "bad-name", message: parsed.error.message, rule: parsed.error.rule }
        : opaqueElsewhere(name),
    );
  const { authority, resourceType, id } = parsed.value;
  if (authority !== place.authority || resourceType !== place.type.name) throw foreign(name, place);
  rejectGlob(id);
  return printName(parsed.value);
}

function opaqueName(name: string, place: Place): string {
  if (name === "*")
    throw new Fault({ code: "bad-name", message: `"*" is the wildcard and no name`, rule: "N-43" });
  if (!name.startsWith("xdstp:")) return name;
  const hint = `move it to AUTHORITY/${place.type.name}/`;
  throw new Fault({
    code: "wrong-name",
    message: `${quote(name)} is not an opaque name, and ${opaqueFolder} holds only these`,
    rule: "N-01",
    hint,
  });
}

function opaqueElsewhere(name: string): FaultDetails {
  return {
    code: "wrong-name",
    message: `${quote(name)} is an opaque name; only ${opaqueFolder} holds these`,
    rule: "N-01",
    hint: `move the file below ${opaqueFolder}, or name the resource xdstp://`,
  };
}

function rejectGlob(id: string): void {
  if (id !== "*" && !id.endsWith("/*")) return;
  throw new Fault({
    code: "bad-name",
    message: `the id ${quote(id)} is a glob and cannot name a resource`,
    rule: "N-50",
    hint: "the last part of an id is not *",
  });
}

function foreign(name: string, place: Place): Fault {
  const prefix = `xdstp://${place.authority ?? ""}/${place.type.name}/`;
  return new Fault({
    code: "wrong-name",
    message: `${quote(name)} does not belong into this folder, whose names begin with ${prefix}`,
    rule: "B-TYPE-5",
    hint: "move the file, or change the name",
  });
}
