import { create, toBinary } from "@bufbuild/protobuf";
import { lengthDelimited } from "@xdstp/core/wire";
import { ResourceLocatorSchema, type ResourceLocator_Directive } from "@xdstp/protos/xds";
import { parseLocator, type Locator } from "@xdstp/uri";

/** The type of the members. */
export const memberUrl = "type.googleapis.com/acme.v1.Flag";
export const listUrl = `${memberUrl}Collection`;

/** Returns an entry that contains a resource. */
export function inline(name: string, text: string, version = "1", typeUrl = memberUrl): Uint8Array {
  const any = Buffer.concat([lengthDelimited(1, typeUrl), lengthDelimited(2, text)]);
  return lengthDelimited(
    1,
    lengthDelimited(
      2,
      Buffer.concat([
        lengthDelimited(1, name),
        lengthDelimited(2, version),
        lengthDelimited(3, any),
      ]),
    ),
  );
}

/** Returns an entry with a locator as a message, which is the form of the protos. */
export function located(uri: string): Uint8Array {
  const parsed = parseLocator(uri);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return lengthDelimited(
    1,
    lengthDelimited(1, toBinary(ResourceLocatorSchema, messageOf(parsed.value))),
  );
}

/** Returns an entry with a locator as a text, which is the form of TP1. */
export function locatedByText(uri: string): Uint8Array {
  return lengthDelimited(1, lengthDelimited(1, uri));
}

/** Returns a list of these entries. */
export function listOf(...entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(entries);
}

function messageOf(locator: Locator): ReturnType<typeof create<typeof ResourceLocatorSchema>> {
  const { scheme, id } = locator;
  const directives = locator.directives.map(
    (directive) =>
      ({
        directive:
          directive.kind === "alt"
            ? { case: "alt" as const, value: messageOf(directive.locator) }
            : { case: "entry" as const, value: directive.entry },
      }) satisfies Pick<ResourceLocator_Directive, "directive">,
  );
  if (scheme === "file") return create(ResourceLocatorSchema, { scheme: 2, id, directives });
  const { authority, resourceType, contextParams } = locator;
  return create(ResourceLocatorSchema, {
    scheme: scheme === "http" ? 1 : 0,
    id,
    authority,
    resourceType,
    directives,
    contextParamSpecifier: {
      case: "exactContext",
      value: { params: Object.fromEntries(contextParams) },
    },
  });
}
