import { type DescField, getOption, hasOption, type Registry } from "@bufbuild/protobuf";

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
