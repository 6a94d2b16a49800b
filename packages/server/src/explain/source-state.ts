import { toJson } from "@bufbuild/protobuf";
import type { Entry, ResourceSource, StoredResource, Topic } from "@xdstp/core";
import { readRedirect, ResourceLocatorSchema } from "@xdstp/protos/xds";
import {
  locatorFromMessage,
  nameKey,
  printLocator,
  type ResourceLocatorMessage,
  typeUrlFromType,
} from "@xdstp/uri";

import type { ResourceOrigin, SourceState } from "./explanation.ts";

const redirectUrl = typeUrlFromType(ResourceLocatorSchema.typeName);

/** The part of a source that a caller may see. */
export interface SourceSight {
  /** The origin of the resource. undefined: it is not known, or the caller may not see it. */
  readonly origin: ResourceOrigin | undefined;
  /** True if the caller may see texts for operators, which name files and servers: why a topic may be out of date, the rule of a policy. */
  readonly seesTrouble: boolean;
}

/** Returns the state of a name in a source. It subscribes to nothing, so a source that is filled on demand knows only the subscribed names. */
export function sourceState(
  source: ResourceSource,
  typeUrl: string,
  name: string,
  { origin, seesTrouble }: SourceSight,
): SourceState {
  const topic = source.topic(typeUrl, { name });
  const entry = topic.get(name) ?? ownMember(topic, name);
  const { resource } = entry ?? {};
  const error = (entry?.error ?? (seesTrouble ? topic.stale : undefined))?.text;
  const redirect = resource && redirectOf(typeUrl, resource);
  return {
    state: resource !== undefined ? "present" : topic.settled ? "missing" : "unknown",
    ...(resource !== undefined && { version: resource.version }),
    ...(redirect !== undefined && { redirect }),
    ...(error !== undefined && { error }),
    ...(origin !== undefined && { origin }),
  };
}

/** The own name of the resource that a source has under a name, which differs for an alias; else the name itself. */
export function ownName(source: ResourceSource, typeUrl: string, name: string): string {
  return source.topic(typeUrl, { name }).get(name)?.resource?.name ?? name;
}

/** The state of an alias whose resource is hidden from a restricted caller: it sees nothing, as its client does. */
export const hiddenByAlias: SourceState = { state: "missing" };

/** The entry of a name that does not exist says why. */
function ownMember(topic: Topic, name: string): Entry | undefined {
  return topic.members().find((entry) => nameKey(entry.name) === nameKey(name));
}

/** The name that a redirect leads to, as a locator. undefined: it is not a redirect, or cannot be read. */
function redirectOf(typeUrl: string, { payload }: StoredResource): string | undefined {
  if (payload.typeUrl !== redirectUrl || typeUrl === redirectUrl) return undefined;
  const read = readRedirect(payload.value);
  if (!read.ok) return undefined;
  if (read.value.form === "text") return read.value.text;
  const json = toJson(ResourceLocatorSchema, read.value.message, {
    enumAsInteger: true,
    alwaysEmitImplicit: true,
  });
  const locator = locatorFromMessage(json as unknown as ResourceLocatorMessage);
  return locator.ok ? printLocator(locator.value) : undefined;
}
