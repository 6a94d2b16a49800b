import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import { typeFromTypeUrl } from "@xdstp/uri";
import { closest } from "./closest.ts";
import { Fault } from "./fault.ts";
import type { FolderContext } from "./folder-context.ts";
import { quote } from "./quote.ts";

/** The type of the resources in a folder. */
export interface TypeFolder {
  readonly typeUrl: string;
  readonly desc: DescMessage;
  /** The field that holds the name of a resource. Absent: the type has none, or it has no descriptor. */
  readonly nameField?: DescField;
}

/** The type of a folder, by its name. Throws a fault for a name that is not a type of the registry. */
export function typeFolder(name: string, context: FolderContext): TypeFolder {
  const typeUrl = shortTypes.get(name) ?? typeUrlOf(name);
  const desc = context.registry.getMessage(typeFromTypeUrl(typeUrl) ?? "");
  if (desc === undefined) throw unknownType(name, context);
  const nameField = nameFieldOf(desc, context.types.get(typeUrl));
  return nameField === undefined ? { typeUrl, desc } : { typeUrl, desc, nameField };
}

/** Without a descriptor field 1 is not known to be a name, so it is not changed. */
function nameFieldOf(
  desc: DescMessage,
  type: { readonly nameField?: number } | undefined,
): DescField | undefined {
  if (type === undefined) return undefined;
  const field = desc.fields.find(({ number }) => number === (type.nameField ?? 1));
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

function unknownType(name: string, context: FolderContext): Fault {
  const messages = Array.from(context.registry, (type) =>
    type.kind === "message" ? type.typeName : "",
  );
  const meant = closest(name, [...shortTypes.keys(), ...messages]);
  const own = "for a type of your own, add its descriptors: --descriptors FILE";
  const known =
    meant === undefined
      ? `the short names are ${[...shortTypes.keys()].join(" ")}`
      : `did you mean ${meant}?`;
  const hint = name.includes(".")
    ? `${meant === undefined ? "" : `${known} `}${own}`
    : meant === undefined
      ? `call the folder by a full message name; ${known}`
      : known;
  return new Fault({
    message: `the folder ${quote(name)} is not a known type`,
    rule: "B-TYPE-1",
    hint,
  });
}
