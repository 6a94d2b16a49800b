import { type DescField, getOption, hasOption, type Registry } from "@bufbuild/protobuf";

/** Fields that hold secrets although Envoy's API does not mark them: credentials in the clear. */
const unmarked: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.service_account_jwt_access",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_iam",
]);

/** Whether a field is one whose content nobody may see: marked by `udpa.annotations.sensitive`, or known to be one. @internal */
export function isSecretField(field: DescField, registry: Registry): boolean {
  if (unmarked.has(`${field.parent.typeName}.${field.name}`)) return true;
  const mark = registry.getExtension("udpa.annotations.sensitive");
  return mark !== undefined && hasOption(field, mark) && getOption(field, mark) === true;
}
