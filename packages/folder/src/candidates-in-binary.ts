import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { DiscoveryResponseSchema, type Resource, ResourceSchema } from "@xdstp/protos/discovery";
import { type Candidate, wrapperFacts } from "./candidate.ts";
import { Fault, quote, reasonOf } from "./folder-problem.ts";
import { type Place, redirectType } from "./place.ts";

/**
 * Returns the resources of a `.pb` file. Bytes without a `google.protobuf.Any` have no type of their own, so they are of the type of the folder.
 * An `Any` contains its type, and may also contain an `envoy.service.discovery.v3.Resource` or a `DiscoveryResponse`.
 */
export function candidatesInBinary(bytes: Uint8Array, place: Place): readonly Candidate[] {
  return isAny(bytes)
    ? inAny(decode(AnySchema, bytes), place)
    : [{ type: place.type, content: { bytes }, alone: true, document: 0, path: [] }];
}

/** Returns true if the bytes are an Any. In no message of a resource does the first field look like a type URL. */
function isAny(bytes: Uint8Array): boolean {
  try {
    const reader = new BinaryReader(bytes);
    const [field, wireType] = reader.tag();
    return (
      field === 1 &&
      wireType === WireType.LengthDelimited &&
      reader.string().startsWith("type.googleapis.com/")
    );
  } catch {
    return false;
  }
}

function inAny(any: Any, place: Place): readonly Candidate[] {
  if (typeOf(any) !== DiscoveryResponseSchema.typeName) return [candidate(any, true, place)];
  return decode(DiscoveryResponseSchema, any.value).resources.map((member) =>
    candidate(member, false, place),
  );
}

function candidate(any: Any, alone: boolean, place: Place): Candidate {
  if (typeOf(any) !== ResourceSchema.typeName)
    return { ...payloadOf(any, place), alone, document: 0, path: [] };
  const message: Resource = decode(ResourceSchema, any.value);
  if (message.resource === undefined)
    throw new Fault({ code: "bad-wrapper", message: "a Resource without its field resource" });
  return {
    ...payloadOf(message.resource, place),
    facts: wrapperFacts(message),
    alone,
    document: 0,
    path: [],
  };
}

function payloadOf(any: Any, place: Place): Pick<Candidate, "type" | "content"> {
  const content = { bytes: any.value };
  for (const type of [place.type, redirectType])
    if (typeOf(any) === type.name) return { type, content };
  throw new Fault({
    code: "wrong-type",
    message: `holds ${quote(any.typeUrl)}, but this folder holds ${place.type.name}`,
    rule: "C-TYPE-4",
    hint: "move the file",
  });
}

function typeOf({ typeUrl }: Any): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

function decode<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${schema.typeName} in binary: ${reasonOf(error)}`,
    });
  }
}
