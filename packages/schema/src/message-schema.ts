import type { Registry } from "@bufbuild/protobuf";
import { createDefinitions } from "./definitions.ts";
import { type DialectName, dialects } from "./dialect.ts";
import { docComments } from "./doc-comments.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The dialect of JSON Schema that all schemas are in. */
export const draft = "https://json-schema.org/draft/2020-12/schema";

/** The message with which Envoy starts. */
const bootstrap = "envoy.config.bootstrap.v3.Bootstrap";

/** The content of a schema. */
export interface SchemaOptions {
  /** True if fields, messages and enums are described by the comments of their proto sources. Default: true. */
  readonly comments?: boolean;
}

/** Options of {@link messageSchema}. */
export interface MessageSchemaOptions extends SchemaOptions {
  /** The forms of values that are accepted. Default: `xds`, the JSON of protobuf. */
  readonly dialect?: DialectName;
}

/**
 * Returns the JSON Schema of a message of a registry, with all that is in it, also in `typed_config`.
 *
 * Throws an Error where the registry does not have the message.
 * @param typeName - The full name of the message
 */
export function messageSchema(
  registry: Registry,
  typeName: string,
  { dialect = "xds", comments = true }: MessageSchemaOptions = {},
): JsonSchema {
  const desc = registry.getMessage(typeName);
  if (desc === undefined) throw new Error(`the registry has no message ${typeName}`);
  const definitions = createDefinitions(registry, {
    dialect: dialects[dialect],
    comments: docComments(comments),
  });
  const root = definitions.message(desc);
  return { $schema: draft, title: typeName, ...root, $defs: definitions.all() };
}

/** Returns the JSON Schema of a configuration with which Envoy starts: YAML or JSON for `envoy -c`, with the forms of values that Envoy reads. */
export function bootstrapSchema(registry: Registry, options: SchemaOptions = {}): JsonSchema {
  return messageSchema(registry, bootstrap, { ...options, dialect: "envoy" });
}
