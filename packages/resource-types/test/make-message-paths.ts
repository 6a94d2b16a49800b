import type { DescField, DescMessage, Registry } from "@bufbuild/protobuf";
import { namingFields } from "../src/naming-fields.ts";

const ANY = "google.protobuf.Any";
const CLUSTER = "envoy.config.cluster.v3.Cluster";
/** Messages of other uses than the configuration of a resource. */
const elsewhere =
  /^(?!envoy\.|xds\.)|^envoy\.(admin|api|data|service|watchdog|config\.(bootstrap|metrics|overload)|extensions\.(bootstrap|stat_sinks))\.|^xds\.(core\.v3\.(?!TypedExtensionConfig$)|data\.|service\.)/;
/** Messages that lead to no reference, whatever Any they hold: what says where configuration comes from, data, secrets, and the extensions of a string matcher, which are everywhere. */
const closed: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.ApiConfigSource",
  "envoy.config.core.v3.ConfigSource",
  "envoy.config.core.v3.Metadata",
  "envoy.config.core.v3.Node",
  "envoy.extensions.transport_sockets.tls.v3.Secret",
  "envoy.type.matcher.v3.StringMatcher",
]);

/** By message and field: what lies there, of all messages from which a reference can be reached. A path such as `16.2` goes through a map to its value. */
export function makeMessagePaths(
  registry: Registry,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const messages = [...registry]
    .filter((type) => type.kind === "message")
    .filter(({ typeName }) => !elsewhere.test(typeName) && !closed.has(typeName));
  const leading = reaching(messages);
  const kept = messages
    .filter(({ typeName }) => leading.has(typeName))
    .sort((a, b) => (a.typeName < b.typeName ? -1 : 1));
  return Object.fromEntries(kept.map((message) => [message.typeName, pathsOf(message, leading)]));
}

/** The module that holds them. */
export function messagePathsModule(registry: Registry): string {
  const rows = Object.entries(makeMessagePaths(registry)).map(
    ([message, paths]) => `  ${JSON.stringify(message)}: ${JSON.stringify(paths)},\n`,
  );
  return `/* Generated from the Envoy API by message-paths.test.ts: vitest run src/message-paths.test.ts -u */\nexport const messagePaths: Readonly<Record<string, Readonly<Record<string, string>>>> = {\n${rows.join("")}};\n`;
}

/** The messages from which a naming field or an Any can be reached. */
function reaching(messages: readonly DescMessage[]): ReadonlySet<string> {
  const found = new Set([ANY, CLUSTER, ...namingFields.map(({ message }) => message)]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const message of messages)
      if (message.fields.some((field) => found.has(field.message?.typeName ?? "")))
        found.add(message.typeName);
  }
  return found;
}

function pathsOf(
  message: DescMessage,
  leading: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const fields = message.fields.filter((field) => leading.has(field.message?.typeName ?? ""));
  return Object.fromEntries(fields.map((field) => [pathOf(field), field.message?.typeName ?? ""]));
}

function pathOf(field: DescField): string {
  return field.fieldKind === "map" ? `${field.number}.2` : String(field.number);
}
