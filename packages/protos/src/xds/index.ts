/**
 * The messages of xds.core.v3: names and locators by their parts, and the entries of list collections.
 *
 * `ResourceLocator` and `ResourceName` here are other messages than those of the discovery service.
 * @packageDocumentation
 */
export type { Authority } from "../gen/xds/core/v3/authority_pb.ts";
export { AuthoritySchema } from "../gen/xds/core/v3/authority_pb.ts";
export type { CidrRange } from "../gen/xds/core/v3/cidr_pb.ts";
export { CidrRangeSchema } from "../gen/xds/core/v3/cidr_pb.ts";
export type {
  CollectionEntry,
  CollectionEntry_InlineEntry,
} from "../gen/xds/core/v3/collection_entry_pb.ts";
export {
  CollectionEntry_InlineEntrySchema,
  CollectionEntrySchema,
} from "../gen/xds/core/v3/collection_entry_pb.ts";
export type { ContextParams } from "../gen/xds/core/v3/context_params_pb.ts";
export { ContextParamsSchema } from "../gen/xds/core/v3/context_params_pb.ts";
export type { TypedExtensionConfig } from "../gen/xds/core/v3/extension_pb.ts";
export { TypedExtensionConfigSchema } from "../gen/xds/core/v3/extension_pb.ts";
export type { Resource } from "../gen/xds/core/v3/resource_pb.ts";
export { ResourceSchema } from "../gen/xds/core/v3/resource_pb.ts";
export type {
  ResourceLocator,
  ResourceLocator_Directive,
} from "../gen/xds/core/v3/resource_locator_pb.ts";
export {
  ResourceLocator_DirectiveSchema,
  ResourceLocator_Scheme,
  ResourceLocator_SchemeSchema,
  ResourceLocatorSchema,
} from "../gen/xds/core/v3/resource_locator_pb.ts";
export type { ResourceName } from "../gen/xds/core/v3/resource_name_pb.ts";
export { ResourceNameSchema } from "../gen/xds/core/v3/resource_name_pb.ts";
export type { ListCollection } from "../gen/xdstp/wire/v1/list_collection_pb.ts";
export { ListCollectionSchema } from "../gen/xdstp/wire/v1/list_collection_pb.ts";

export { type Located, readRedirect } from "./read-redirect.ts";
export type { Read } from "./read-redirect.ts";
