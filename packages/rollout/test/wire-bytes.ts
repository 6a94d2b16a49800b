import { concatBytes, lengthDelimited, walkFields } from "@xdstp/core/wire";

/** A `Resource` as it is on the wire: parts that may differ are kept as bytes. */
export interface WireResource {
  readonly name: string;
  readonly version: string;
  /** The whole `Any`. Absent: there is no body, as in a heartbeat. */
  readonly any?: Uint8Array;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  /** The encoded `DynamicParameterConstraints`. */
  readonly constraints?: Uint8Array;
  /** The encoded `Metadata`. */
  readonly metadata?: Uint8Array;
  readonly noStore?: boolean;
  /** SotW: true for a payload without a `Resource` around it, which has no version. */
  readonly bare?: boolean;
}

/** A response of either variant. */
export interface WireResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly version: string;
  readonly resources: readonly WireResource[];
  readonly removed: readonly string[];
  readonly errors: readonly WireError[];
  /** SotW only. */
  readonly canary?: boolean;
}

/** One of the `resource_errors`. */
export interface WireError {
  readonly name: string;
  readonly code: number;
  readonly text: string;
}

export type Variant = "delta" | "sotw";

const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";
const RESOURCE = {
  version: 1,
  any: 2,
  name: 3,
  aliases: 4,
  ttl: 6,
  cacheControl: 7,
  resourceName: 8,
  metadata: 9,
} as const;
const CANARY = 3;
const RESPONSE = { delta: { removed: 6, errors: 9 }, sotw: { removed: 0, errors: 7 } } as const;

/** Encodes a number as a field of wire type 0. */
function varintField(field: number, value: number): Uint8Array {
  const bytes = [field << 3];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest > 127 ? (rest % 128) + 128 : rest);
    if (rest <= 127) return Uint8Array.from(bytes);
  }
}

/** Encodes an `Any`. */
export function anyOf(typeUrl: string, payload: Uint8Array): Uint8Array {
  return concatBytes([lengthDelimited(1, typeUrl), lengthDelimited(2, payload)]);
}

/** Encodes a response. */
export function encodeResponse(
  variant: Variant,
  { typeUrl, nonce, version, resources, removed, errors, canary }: WireResponse,
): Uint8Array {
  const fields = RESPONSE[variant];
  return concatBytes([
    lengthDelimited(1, version),
    lengthDelimited(4, typeUrl),
    lengthDelimited(5, nonce),
    ...(variant === "sotw" && canary === true ? [varintField(CANARY, 1)] : []),
    ...resources.map((resource) => lengthDelimited(2, encodeMember(variant, resource))),
    ...(variant === "delta" ? removed.map((name) => lengthDelimited(fields.removed, name)) : []),
    ...errors.map(({ name, code, text }) =>
      lengthDelimited(
        fields.errors,
        concatBytes([
          lengthDelimited(1, lengthDelimited(1, name)),
          lengthDelimited(2, concatBytes([varintField(1, code), lengthDelimited(2, text)])),
        ]),
      ),
    ),
  ]);
}

function encodeMember(variant: Variant, resource: WireResource): Uint8Array {
  if (variant === "delta") return encodeResource(resource);
  return resource.bare === true && resource.any !== undefined
    ? resource.any
    : anyOf(WRAPPER, encodeResource(resource));
}

function encodeResource({
  name,
  version,
  any,
  aliases = [],
  ttlMs,
  constraints,
  metadata,
  noStore,
}: WireResource): Uint8Array {
  const named =
    constraints === undefined
      ? lengthDelimited(RESOURCE.name, name)
      : lengthDelimited(
          RESOURCE.resourceName,
          concatBytes([lengthDelimited(1, name), lengthDelimited(2, constraints)]),
        );
  return concatBytes([
    lengthDelimited(RESOURCE.version, version),
    named,
    ...(any === undefined ? [] : [lengthDelimited(RESOURCE.any, any)]),
    ...aliases.map((alias) => lengthDelimited(RESOURCE.aliases, alias)),
    ...(ttlMs === undefined
      ? []
      : [
          lengthDelimited(
            RESOURCE.ttl,
            concatBytes([
              varintField(1, Math.floor(ttlMs / 1_000)),
              varintField(2, (ttlMs % 1_000) * 1_000_000),
            ]),
          ),
        ]),
    ...(noStore === true ? [lengthDelimited(RESOURCE.cacheControl, varintField(1, 1))] : []),
    ...(metadata === undefined ? [] : [lengthDelimited(RESOURCE.metadata, metadata)]),
  ]);
}

/** Decodes a response; of a repeated name the last one counts. */
export function decodeResponse(variant: Variant, bytes: Uint8Array): WireResponse {
  const fields = RESPONSE[variant];
  const all = fieldsOf(bytes);
  const of = (field: number): readonly Uint8Array[] => all.get(field) ?? [];
  return {
    typeUrl: text(of(4)[0]),
    nonce: text(of(5)[0]),
    version: text(of(1)[0]),
    resources: of(2).map((one) => (variant === "delta" ? decodeResource(one) : decodeAny(one))),
    removed: variant === "delta" ? of(fields.removed).map(text) : [],
    errors: of(fields.errors).map(decodeError),
    ...(variant === "sotw" && of(CANARY).length > 0 && { canary: true }),
  };
}

function decodeAny(bytes: Uint8Array): WireResource {
  const fields = fieldsOf(bytes);
  if (text(fields.get(1)?.[0]) !== WRAPPER) return { name: "", version: "", any: bytes };
  return decodeResource(fields.get(2)?.[0] ?? new Uint8Array());
}

function decodeResource(bytes: Uint8Array): WireResource {
  const fields = fieldsOf(bytes);
  const [any, ttl, named, metadata, cacheControl] = [
    RESOURCE.any,
    RESOURCE.ttl,
    RESOURCE.resourceName,
    RESOURCE.metadata,
    RESOURCE.cacheControl,
  ].map((field) => fields.get(field)?.[0]);
  const variant = named && fieldsOf(named);
  const constraints = variant?.get(2)?.[0];
  const aliases = (fields.get(RESOURCE.aliases) ?? []).map(text);
  return {
    name:
      variant === undefined ? text(fields.get(RESOURCE.name)?.at(-1)) : text(variant.get(1)?.[0]),
    version: text(fields.get(RESOURCE.version)?.[0]),
    ...(any !== undefined && { any }),
    ...(aliases.length > 0 && { aliases }),
    ...(ttl !== undefined && { ttlMs: millis(ttl) }),
    ...(constraints !== undefined && { constraints }),
    ...(metadata !== undefined && { metadata }),
    ...(cacheControl !== undefined && { noStore: true }),
  };
}

function decodeError(bytes: Uint8Array): WireError {
  const fields = fieldsOf(bytes);
  const detail = fieldsOf(fields.get(2)?.[0] ?? new Uint8Array());
  return {
    name: text(fieldsOf(fields.get(1)?.[0] ?? new Uint8Array()).get(1)?.[0]),
    code: number(detail.get(1)?.[0]),
    text: text(detail.get(2)?.[0]),
  };
}

function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const fields = new Map<number, Uint8Array[]>();
  walkFields(bytes, (field, start, end) => {
    fields.set(field, [...(fields.get(field) ?? []), Uint8Array.from(bytes.subarray(start, end))]);
    return true;
  });
  return fields;
}

function millis(duration: Uint8Array): number {
  const fields = fieldsOf(duration);
  return number(fields.get(1)?.[0]) * 1_000 + number(fields.get(2)?.[0]) / 1_000_000;
}

function number(bytes: Uint8Array = new Uint8Array()): number {
  return bytes.reduceRight((sum, byte) => sum * 128 + (byte & 127), 0);
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : Buffer.from(bytes).toString();
}
