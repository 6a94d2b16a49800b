import { create, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import {
  CollectionEntrySchema,
  ListCollectionSchema,
  ResourceLocatorSchema,
  type ResourceLocator,
} from "@xdstp/protos/xds";
import { cluster as clusterType } from "@xdstp/resource-types";
import {
  type Locator,
  messageFromLocator,
  parseLocator,
  type ResourceLocatorMessage,
} from "@xdstp/uri";

import type { PlaneResource } from "./plane.ts";

const type = "envoy.config.cluster.v3.Cluster";

export function clusterName(authority: string, id: string): string {
  return `xdstp://${authority}/${type}/${id}`;
}

export function listName(authority: string, id: string): string {
  return `xdstp://${authority}/${type}Collection/${id}`;
}

/** A cluster that says where it is from. */
export function cluster(authority: string, id: string): PlaneResource {
  const name = clusterName(authority, id);
  return {
    typeUrl: clusterType.typeUrl,
    name,
    value: toBinary(ClusterSchema, create(ClusterSchema, { name, altStatName: authority })),
  };
}

/** A list collection that says where its members are. */
export function list(authority: string, id: string, locators: readonly string[]): PlaneResource {
  const entries = locators.map((locator) =>
    create(CollectionEntrySchema, {
      resourceSpecifier: { case: "locator", value: locatorMessage(parsed(locator)) },
    }),
  );
  return {
    typeUrl: `${clusterType.typeUrl}Collection`,
    name: listName(authority, id),
    value: toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries })),
  };
}

function parsed(text: string): Locator {
  const read = parseLocator(text);
  if (read.ok) return read.value;
  throw new Error(read.error.message);
}

function locatorMessage(locator: Locator): ResourceLocator {
  return messageOf(messageFromLocator(locator));
}

function messageOf({
  id = "",
  authority = "",
  resourceType = "",
  exactContext,
  directives = [],
}: ResourceLocatorMessage): ResourceLocator {
  return create(ResourceLocatorSchema, {
    id,
    authority,
    resourceType,
    contextParamSpecifier: { case: "exactContext", value: { params: { ...exactContext?.params } } },
    directives: directives.map(({ alt, entry = "" }) => ({
      directive:
        alt === undefined
          ? { case: "entry" as const, value: entry }
          : { case: "alt" as const, value: messageOf(alt) },
    })),
  });
}
