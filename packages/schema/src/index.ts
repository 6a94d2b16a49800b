/**
 * JSON Schemas of messages of a registry, of Envoy's configuration and of folders of resources. Needs Node.
 * @packageDocumentation
 */
export { folderSchemas, type FolderSchemas } from "./folder-schemas.ts";
export {
  bootstrapSchema,
  messageSchema,
  type MessageSchemaOptions,
  type SchemaOptions,
} from "./message-schema.ts";
export type { DialectName } from "./dialect.ts";
export type { JsonSchema } from "./json-schema.ts";
