import type { DescMessage, Registry } from "@bufbuild/protobuf";
import { closest } from "./closest.ts";

/** A key of an older version of the API, or of the command of Envoy. */
interface FormerKey {
  /** A field that a message has if the key was, or could be, one of its keys. */
  readonly next: string;
  readonly hint: string;
}

const formerKeys: ReadonlyMap<string, FormerKey> = new Map([
  ["config", { next: "typed_config", hint: 'it is of API v2; write typed_config with "@type"' }],
  ["hosts", { next: "load_assignment", hint: "it is of API v2; write load_assignment" }],
  ["tls_context", { next: "transport_socket", hint: "it is of API v2; write transport_socket" }],
  ["runtime", { next: "layered_runtime", hint: "it is of API v2; write layered_runtime" }],
  [
    "concurrency",
    { next: "static_resources", hint: "it is an option of the command: envoy --concurrency" },
  ],
]);

/** Returns a hint for a key that a message does not have: a mistyped field, a former key, or a field that belongs one level deeper. undefined: nothing is close. */
export function keyHint(key: string, desc: DescMessage | undefined): string | undefined {
  if (desc === undefined) return undefined;
  const names = desc.fields.map(({ name }) => name);
  const former = formerKeys.get(key);
  if (former !== undefined && names.includes(former.next)) return former.hint;
  const meant = closest(key, names);
  if (meant !== undefined) return `did you mean ${meant}?`;
  const holders = desc.fields.filter(({ message }) =>
    message?.fields.some(({ name, jsonName }) => name === key || jsonName === key),
  );
  const [holder, ...others] = holders;
  return holder === undefined || others.length > 0
    ? undefined
    : `it is a field of ${holder.name}; indent it below`;
}

/** Returns a hint for a type that does not exist: the type of API v3 with the same name, or one with a similar name. undefined: there is none, or there are several. */
export function typeHint(type: string, registry: Registry): string | undefined {
  const names = Array.from(registry, (one) => (one.kind === "message" ? one.typeName : ""));
  const ending = type.slice(type.lastIndexOf("."));
  const same = names.filter((name) => name.endsWith(ending));
  const [only, ...others] = same;
  const meant = others.length === 0 && only !== undefined ? only : closest(type, names);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}
