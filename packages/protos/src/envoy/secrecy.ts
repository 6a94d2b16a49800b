import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type JsonObject,
  type JsonValue,
  type Registry,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";

import { typeNameFromUrl } from "../type-url.ts";
import type { JsonStep } from "./resource-json-error.ts";

/** Whether the JSON at a path lies in a Secret, in a secret field, where a key too may be a value that slipped, or in neither. */
export type Secrecy = "field" | "none" | "type";

const secretTypes: ReadonlySet<string> = new Set([
  "envoy.extensions.transport_sockets.tls.v3.Secret",
]);

/** How secret what lies at a path is; the path begins at an object with `@type`. @internal */
export function secrecyOfPath(
  json: JsonValue,
  path: readonly JsonStep[],
  registry: Registry,
): Secrecy {
  let secrecy: Secrecy = "none";
  let desc: DescMessage | undefined = AnySchema;
  let value: JsonValue | undefined = json;
  let isInside = false; // In a list or map: the next step is an index or key of it.
  for (const step of [...path, undefined]) {
    desc = isInside ? desc : packedIn(desc, value, registry);
    if (desc !== undefined && !isInside && secretTypes.has(desc.typeName)) secrecy = "type";
    if (step === undefined) break;
    if (!isInside) {
      const field: DescField | undefined = desc?.fields.find(
        ({ name, jsonName }) => name === step || jsonName === step,
      );
      const isHeader =
        desc?.typeName === headerType &&
        step !== "key" &&
        isObject(value) &&
        typeof value.key === "string" &&
        isSecretHeader(value.key);
      if (isHeader || (field !== undefined && isSecretField(field, registry))) return "field";
      isInside = field?.fieldKind === "list" || field?.fieldKind === "map";
      // A well-known type in an Any is in the key `value`.
      if (field !== undefined || !desc?.typeName.startsWith("google.protobuf."))
        desc = field?.message;
    } else isInside = false;
    value = isObject(value) || Array.isArray(value) ? (value as JsonObject)[step] : undefined;
  }
  return secrecy;
}

function packedIn(
  desc: DescMessage | undefined,
  json: JsonValue | undefined,
  registry: Registry,
): DescMessage | undefined {
  if (desc?.typeName !== AnySchema.typeName || !isObject(json) || typeof json["@type"] !== "string")
    return desc;
  return registry.getMessage(typeNameFromUrl(json["@type"]));
}

function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Names of headers with credentials: `authorization`, `cookie`, `x-api-key`, `lightstep-access-token` and the like. */
const secretName = /^(?:proxy-)?authorization$|(?:cookie|api-?key|token|secret|password)$/i;

/** The message type of a header that is added to requests, responses or calls. @internal */
export const headerType = "envoy.config.core.v3.HeaderValue";

/** Whether the value of a header with this name must not be shown (B-CSDS-7). @internal */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name.trim());
}

/** Fields that hold secrets although Envoy's API does not mark them: credentials in the clear, and key sets, in which a key may be symmetric. */
const unmarked: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key",
  "envoy.config.trace.v3.LightstepConfig.access_token",
  "envoy.extensions.filters.common.jwks.v3.JwtHandshakeValidator.local_jwks",
  "envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key",
  "envoy.extensions.filters.http.aws_lambda.v3.Credentials.session_token",
  "envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken.authorization",
  "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider.local_jwks",
  "envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials.token",
  "envoy.extensions.grpc_service.call_credentials.google_iam.v3.GoogleIamCredentials.authorization_token",
  "envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3.GoogleRefreshTokenCredentials.token",
  "envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials.json_key",
  "envoy.service.redis_auth.v3.RedisProxyExternalAuthRequest.password",
]);

/** Results of {@link isSecretField}: protobuf decodes the options of a field at each access, and a message may have 100,000 parts. */
const known = new WeakMap<Registry, WeakMap<DescField, boolean>>();

/** Whether the content of a field must not be shown: marked by `udpa.annotations.sensitive`, or known to be one. @internal */
export function isSecretField(field: DescField, registry: Registry): boolean {
  const ofRegistry = known.get(registry) ?? new WeakMap<DescField, boolean>();
  known.set(registry, ofRegistry);
  const before = ofRegistry.get(field);
  if (before !== undefined) return before;
  const isSecret =
    unmarked.has(`${field.parent.typeName}.${field.name}`) || isMarked(field, registry);
  ofRegistry.set(field, isSecret);
  return isSecret;
}

function isMarked(field: DescField, registry: Registry): boolean {
  const mark = registry.getExtension("udpa.annotations.sensitive");
  return mark !== undefined && hasOption(field, mark) && getOption(field, mark) === true;
}
