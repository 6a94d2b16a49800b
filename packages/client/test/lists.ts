import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ListCollectionSchema,
  ResourceLocator_Scheme,
  ResourceLocatorSchema,
} from "@xdstp/protos/xds";
import { messageFromLocator, parseLocator } from "@xdstp/uri";

import type { ListMember, ListWatch } from "../src/index.ts";
import { flagUrl } from "./use-script.ts";

/** One entry of a list. */
export type Entry = NonNullable<MessageInitShape<typeof ListCollectionSchema>["entries"]>[number];

export const listUrl = `${flagUrl}Collection`;

/** An entry with the flag in it. */
export function inline(name: string, text: string, version = text, typeUrl = flagUrl): Entry {
  return {
    resourceSpecifier: {
      case: "inlineEntry",
      value: { name, version, resource: { typeUrl, value: Buffer.from(text) } },
    },
  };
}

/** A resource as a raw server sends it. */
export interface SentResource {
  readonly name: string;
  readonly version: string;
  readonly resource: { readonly typeUrl: string; readonly value: Uint8Array };
}

/** An entry with the locator of a flag. */
export function located(uri: string): Entry {
  return { resourceSpecifier: { case: "locator", value: locatorOf(uri) } };
}

/** A list as a resource. */
export function list(name: string, version: string, ...entries: readonly Entry[]): SentResource {
  return { name, version, resource: { typeUrl: listUrl, value: listBytes(...entries) } };
}

/** An encoded list. */
export function listBytes(...entries: readonly Entry[]): Uint8Array {
  return toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries: [...entries] }));
}

/** A redirect as a resource (C-REDIR-1). */
export function redirect(name: string, uri: string): SentResource {
  return {
    name,
    version: "r",
    resource: {
      typeUrl: `type.googleapis.com/${ResourceLocatorSchema.typeName}`,
      value: toBinary(ResourceLocatorSchema, create(ResourceLocatorSchema, locatorOf(uri))),
    },
  };
}

/**
 * Collects the updates of a watch: all members, then `+` added, `~` updated, `-` removed, `.`
 * complete, `0` no list, `!` the error of the list.
 */
export function listen(watch: ListWatch<string>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const { members, added, updated, removed, exists, complete, error } of watch) {
      const updates = [
        ...added.map((one) => `+${short(one)}`),
        ...updated.map((one) => `~${short(one)}`),
        ...removed.map((one) => `-${short(one)}`),
      ];
      said.push(
        [
          members.map(show).join(" "),
          ...updates,
          ...(complete ? ["."] : []),
          ...(exists ? [] : ["0"]),
          ...(error === undefined ? [] : [`!${error.code}`]),
        ]
          .join(" ")
          .trim(),
      );
    }
  })();
  return said;
}

/** Prints a member as `x=on`; with its state if it is not `held`. */
export function show(member: ListMember<string>): string {
  const { state, value, error } = member;
  return `${short(member)}${state === "held" ? `=${String(value)}` : `:${state}`}${error === undefined ? "" : `!${error.code}`}`;
}

function short({ name }: { readonly name: string }): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function locatorOf(uri: string): MessageInitShape<typeof ResourceLocatorSchema> {
  const parsed = parseLocator(uri);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const {
    id = "",
    authority = "",
    resourceType = "",
    directives = [],
  } = messageFromLocator(parsed.value);
  const entry = directives[0]?.entry;
  const scheme = {
    xdstp: ResourceLocator_Scheme.XDSTP,
    http: ResourceLocator_Scheme.HTTP,
    file: ResourceLocator_Scheme.FILE,
  }[parsed.value.scheme];
  return {
    scheme,
    id,
    authority,
    resourceType,
    directives: entry === undefined ? [] : [{ directive: { case: "entry", value: entry } }],
  };
}
