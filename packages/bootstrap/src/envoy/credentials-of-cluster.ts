import { isIP } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import type { Cluster } from "@xdstp/protos/envoy/cluster";
import {
  type CertificateValidationContext,
  SubjectAltNameMatcher_SanType as SanType,
  type UpstreamTlsContext,
  UpstreamTlsContextSchema,
} from "@xdstp/protos/envoy/tls";
import { typeUrlOf } from "@xdstp/resource-types";
import type { DataSource } from "@xdstp/protos/envoy/core";
import type { BootstrapCredentials, TlsCredentials } from "../grpc/bootstrap.ts";
import { inside, type Place, unsupportedAt, wrongAt } from "../grpc/place.ts";

const rawUrl = typeUrlOf("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer");
const tlsUrl = typeUrlOf(UpstreamTlsContextSchema.typeName);

/**
 * Returns the credentials for a static cluster. The certificate of a server has to match the SNI,
 * or else its address, even if Envoy would not check this.
 * Throws an XdsError for certificates that are not files, and for checks that this client does not
 * support.
 * @param host - The host of the address
 */
export function credentialsOfCluster(
  { transportSocket, transportSocketMatches }: Cluster,
  place: Place,
  host: string,
): BootstrapCredentials {
  if (transportSocketMatches.length > 0)
    throw unsupportedAt(
      inside(place, "transport_socket_matches"),
      "cannot be matched here; give one transport_socket",
    );
  const any = transportSocket?.configType.value;
  if (
    transportSocket === undefined ||
    any?.typeUrl === rawUrl ||
    (any === undefined && transportSocket.name === "envoy.transport_sockets.raw_buffer")
  )
    return { type: "insecure" };
  const at = inside(place, "transport_socket", "typed_config");
  if (any?.typeUrl !== tlsUrl)
    throw unsupportedAt(
      at,
      `is ${any === undefined ? "missing" : any.typeUrl}; give an UpstreamTlsContext, or no transport_socket`,
    );
  return tlsOfContext(fromBinary(UpstreamTlsContextSchema, any.value), at, host);
}

function tlsOfContext(
  { sni, commonTlsContext: common }: UpstreamTlsContext,
  place: Place,
  host: string,
): BootstrapCredentials {
  const at = inside(place, "common_tls_context");
  if (common === undefined) return { ...tlsOf({}, at), ...(sni !== "" && { servername: sni }) };
  if (common.tlsCertificateSdsSecretConfigs.length > 0)
    throw unsupportedAt(
      inside(at, "tls_certificate_sds_secret_configs"),
      "needs a source of secrets; give tls_certificates with files",
    );
  if (common.tlsCertificateProviderInstance !== undefined)
    throw unsupportedAt(
      inside(at, "tls_certificate_provider_instance"),
      "needs a provider of certificates; give tls_certificates with files",
    );
  const { validationContextType: type } = common;
  if (type.case !== undefined && type.case !== "validationContext")
    throw unsupportedAt(
      at,
      "takes what servers are checked with from elsewhere; give validation_context with a file as trusted_ca",
    );
  const validation = type.value;
  const trust = inside(at, "validation_context");
  const servername = checkPeerChecks(validation, trust, sni === "" ? host : sni);
  const [certificate, second] = common.tlsCertificates;
  if (second !== undefined)
    throw wrongAt(inside(at, "tls_certificates"), "has several certificates; a client shows one");
  const own = inside(at, "tls_certificates", 0);
  const files = {
    ca: { data: validation?.trustedCa, place: inside(trust, "trusted_ca") },
    cert: { data: certificate?.certificateChain, place: inside(own, "certificate_chain") },
    key: { data: certificate?.privateKey, place: inside(own, "private_key") },
  };
  return {
    ...tlsOf(files, own),
    ...(servername !== host && isIP(servername) === 0 && { servername }),
  };
}

/**
 * Further fields that check a certificate or disable a check. This client supports none of them.
 */
const others: readonly (readonly [keyof CertificateValidationContext, string])[] = [
  ["verifyCertificateSpki", "verify_certificate_spki"],
  ["verifyCertificateHash", "verify_certificate_hash"],
  ["matchSubjectAltNames", "match_subject_alt_names"],
  ["crl", "crl"],
  ["customValidatorConfig", "custom_validator_config"],
  ["caCertificateProviderInstance", "ca_certificate_provider_instance"],
  ["trustChainVerification", "trust_chain_verification"],
  ["allowExpiredCertificate", "allow_expired_certificate"],
];

/**
 * Returns the name that the certificate of a server has to match. Throws an XdsError,
 * UNIMPLEMENTED, for further checks, since they would not be made.
 * @param name - The SNI, or else the host
 */
function checkPeerChecks(
  validation: CertificateValidationContext | undefined,
  place: Place,
  name: string,
): string {
  if (validation === undefined) return name;
  for (const [key, field] of others)
    if (isSet(validation[key]))
      throw unsupportedAt(
        inside(place, field),
        "cannot be done here; a server is checked by trusted_ca and its name",
      );
  return nameIn(validation, place, name);
}

/**
 * Returns the name if the matchers allow exactly it: a certificate that is valid for a name has it
 * among its alternative names.
 */
function nameIn(
  { matchTypedSubjectAltNames: matchers }: CertificateValidationContext,
  place: Place,
  name: string,
): string {
  if (matchers.length === 0) return name;
  const exact = matchers.flatMap(({ sanType, matcher }) =>
    matcher?.matchPattern.case === "exact" &&
    (sanType === SanType.DNS || sanType === SanType.IP_ADDRESS)
      ? [matcher.matchPattern.value]
      : [],
  );
  if (exact.includes(name)) return name;
  throw unsupportedAt(
    inside(place, "match_typed_subject_alt_names"),
    `does not name ${JSON.stringify(name)}, which is what the certificate has to be for here; give sni, and the same name as an exact DNS matcher`,
  );
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** A file in a configuration, and its place. */
interface NamedFile {
  readonly data: DataSource | undefined;
  readonly place: Place;
}

const refreshIntervalMs = 600_000;

/**
 * Returns TLS credentials with files, which are followed as those of a gRPC bootstrap. Throws an
 * XdsError for certificates that are not files, and for a certificate without its key.
 */
export function tlsOf(
  { ca, cert, key }: Partial<Readonly<Record<"ca" | "cert" | "key", NamedFile>>>,
  place: Place,
): TlsCredentials {
  const [caCertificateFile, certificateFile, privateKeyFile] = [
    fileOf(ca),
    fileOf(cert),
    fileOf(key),
  ];
  if ((certificateFile === undefined) !== (privateKeyFile === undefined))
    throw wrongAt(
      place,
      `has ${certificateFile === undefined ? "a key and no certificate" : "a certificate and no key"}; give both, or neither`,
    );
  return {
    type: "tls",
    refreshIntervalMs,
    ...(caCertificateFile !== undefined && { caCertificateFile }),
    ...(certificateFile !== undefined && { certificateFile }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
  };
}

function fileOf(file: NamedFile | undefined): string | undefined {
  if (file?.data === undefined) return undefined;
  const { case: kind, value } = file.data.specifier;
  if (kind === "filename" && value !== "") return value;
  throw unsupportedAt(file.place, "is not a file; give filename");
}
