import {
  type CheckScene,
  type DataSource,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { closestMessage, type VisitedMessage } from "./visit-messages.ts";

interface SecretConfig {
  readonly name: string;
  readonly sdsConfig?: object;
}

interface Certificate {
  readonly ocspStaple?: DataSource;
}

interface Validation {
  readonly trustedCa?: DataSource;
  readonly matchTypedSubjectAltNames: readonly object[];
  readonly matchSubjectAltNames: readonly object[];
  readonly allowExpiredCertificate: boolean;
  readonly customValidatorConfig?: object;
}

interface CommonContext {
  readonly tlsCertificates: readonly Certificate[];
  readonly tlsCertificateSdsSecretConfigs: readonly SecretConfig[];
  readonly customTlsCertificateSelector?: object;
  readonly customHandshaker?: object;
  readonly alpnProtocols: readonly string[];
  readonly validationContextType: Oneof;
}

interface Combined {
  readonly defaultValidationContext?: Validation;
  readonly validationContextSdsSecretConfig?: SecretConfig;
}

interface Secret {
  readonly name: string;
  readonly type: Oneof;
}

const tls = "envoy.extensions.transport_sockets.tls.v3";
const bootstrap = "envoy.config.bootstrap.v3.Bootstrap";
/** `OcspStaplePolicy.MUST_STAPLE` */
const mustStaple = 2;

/** Combinations of TLS settings that Envoy rejects: the certificates that a side needs, and the validation of the peer. */
export const tlsContextChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-tls", `${tls}.DownstreamTlsContext`, ofServer),
  envoyCheck("bad-tls", `${tls}.UpstreamTlsContext`, ofClient),
  envoyCheck("bad-tls", `${tls}.CommonTlsContext`, protocols),
  envoyCheck("bad-tls", `${tls}.CommonTlsContext`, validation),
  envoyCheck("bad-tls", `${tls}.TlsCertificate`, staple),
  envoyCheck("bad-tls", `${tls}.SubjectAltNameMatcher`, objectId),
  envoyCheck("bad-tls", `${tls}.TlsSessionTicketKeys`, ticketKeys),
];

function* ofServer(
  {
    commonTlsContext: context,
    ocspStaplePolicy,
  }: {
    commonTlsContext?: CommonContext;
    ocspStaplePolicy: number;
  },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  // Another check reports that it is in the wrong place.
  if (closestMessage(visited, "envoy.config.cluster.v3.Cluster") !== undefined) return;
  const at = context === undefined ? [] : ["common_tls_context"];
  const certificates = context?.tlsCertificates ?? [];
  const secrets = context?.tlsCertificateSdsSecretConfigs ?? [];
  // A custom handshaker may supply certificates in ways that are not known here.
  if (context?.customHandshaker !== undefined) return;
  if (certificates.length > 0 && secrets.length > 0)
    yield finding(
      [...at, "tls_certificate_sds_secret_configs"],
      "cannot be set next to tls_certificates",
      "keep one of them",
    );
  if (
    certificates.length === 0 &&
    secrets.length === 0 &&
    context?.customTlsCertificateSelector === undefined
  )
    yield finding(
      at,
      "a server needs a certificate",
      "add tls_certificates or tls_certificate_sds_secret_configs",
    );
  if (ocspStaplePolicy === mustStaple)
    for (const [index, { ocspStaple }] of certificates.entries())
      if (ocspStaple === undefined)
        yield finding(
          [...at, "tls_certificates", index],
          "needs ocsp_staple, since ocsp_staple_policy is MUST_STAPLE",
        );
}

function* ofClient(
  {
    commonTlsContext: context,
    autoSniSanValidation,
  }: {
    commonTlsContext?: CommonContext;
    autoSniSanValidation: boolean;
  },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  const { tlsCertificates = [], tlsCertificateSdsSecretConfigs: secrets = [] } = context ?? {};
  const field = secrets.length > 0 ? "tls_certificate_sds_secret_configs" : "tls_certificates";
  if (tlsCertificates.length + secrets.length > 1)
    yield finding(
      ["common_tls_context", field],
      "a client shows one certificate, and this makes several",
    );
  if (!autoSniSanValidation) return;
  const known = context === undefined ? { validation: undefined } : validationOf(context, visited);
  if (known !== undefined && isUnset(known.validation?.trustedCa))
    yield finding(
      ["auto_sni_san_validation"],
      "needs trusted_ca in the validation_context",
      "names in certificates prove nothing without an authority that signs them",
    );
}

/** Checks the lengths of protocol names. ALPN allows 1 to 255 bytes. */
function* protocols({ alpnProtocols }: CommonContext): Iterable<EnvoyFinding> {
  for (const [index, text] of alpnProtocols.entries()) {
    const names = text === "" ? [] : text.split(",");
    if (names.some((name) => name === "" || Buffer.byteLength(name) > 255))
      yield finding(
        ["alpn_protocols", index],
        "has a name that is empty or longer than 255 bytes",
        "separate names by one comma",
      );
  }
}

function* validation(context: CommonContext, { visited }: CheckScene): Iterable<EnvoyFinding> {
  const known = validationOf(context, visited);
  if (known?.validation === undefined) return;
  const { at, validation: one } = known;
  if (one.customValidatorConfig !== undefined || !isUnset(one.trustedCa)) return;
  const names =
    one.matchTypedSubjectAltNames.length > 0
      ? "match_typed_subject_alt_names"
      : one.matchSubjectAltNames.length > 0
        ? "match_subject_alt_names"
        : undefined;
  if (names !== undefined)
    yield finding(
      known.isHere ? [...at, names] : at,
      known.isHere
        ? "needs trusted_ca next to it"
        : `the validation context has ${names}, but no trusted_ca`,
      "names in certificates prove nothing without an authority that signs them",
    );
  if (one.allowExpiredCertificate)
    yield finding(
      known.isHere ? [...at, "allow_expired_certificate"] : at,
      known.isHere
        ? "needs trusted_ca next to it"
        : "the validation context has allow_expired_certificate, but no trusted_ca",
      "without an authority the time of a certificate is not checked",
    );
}

/** The validation of a peer, and the place where it is set. */
interface KnownValidation {
  readonly at: readonly string[];
  /** True if it is set in the context, and not in a secret. */
  readonly isHere: boolean;
  readonly validation?: Validation;
}

function validationOf(
  { validationContextType: type }: CommonContext,
  visited: VisitedMessage,
): KnownValidation | undefined {
  switch (type.case) {
    case "validationContext":
      return {
        at: ["validation_context"],
        isHere: true,
        validation: type.value as Validation,
      };
    case "validationContextSdsSecretConfig": {
      const secret = secretOf(type.value as SecretConfig, visited);
      return (
        secret && {
          at: ["validation_context_sds_secret_config"],
          isHere: false,
          validation: secret,
        }
      );
    }
    case "combinedValidationContext": {
      const { defaultValidationContext: own, validationContextSdsSecretConfig: config } =
        type.value as Combined;
      const secret = config && secretOf(config, visited);
      if (secret === undefined || own === undefined) return undefined;
      return {
        at: ["combined_validation_context", "default_validation_context"],
        isHere: true,
        // A field of the secret replaces the same field of the default.
        validation: isUnset(secret.trustedCa) ? own : secret,
      };
    }
    case undefined:
      return { at: [], isHere: true };
    default:
      return undefined;
  }
}

/** Returns a static secret for validation. undefined: it comes from a server, or does not exist. */
function secretOf(config: SecretConfig, visited: VisitedMessage): Validation | undefined {
  if (config.sdsConfig !== undefined) return undefined;
  const root = closestMessage(visited, bootstrap)?.message.message as
    { readonly staticResources?: { readonly secrets: readonly Secret[] } } | undefined;
  const secret = root?.staticResources?.secrets.find(
    ({ name, type }) => name === config.name && type.case === "validationContext",
  );
  return secret?.type.value as Validation | undefined;
}

function isUnset(source: DataSource | undefined): boolean {
  return source?.specifier.case === undefined || source.specifier.value?.length === 0;
}

function* staple({ ocspStaple }: Certificate): Iterable<EnvoyFinding> {
  if (ocspStaple?.specifier.case === "inlineString")
    yield finding(
      ["ocsp_staple", "inline_string"],
      "cannot hold a response of OCSP, which is bytes",
      "use filename or inline_bytes",
    );
}

/** `SanType.OTHER_NAME` */
const otherName = 5;

function* objectId({ sanType, oid }: { sanType: number; oid: string }): Iterable<EnvoyFinding> {
  if (sanType === otherName && oid === "")
    yield finding(["san_type"], "OTHER_NAME needs the oid of the name");
}

/** The size of a session ticket key, in bytes. */
const ticketKeySize = 80;

function* ticketKeys({ keys }: { keys: readonly DataSource[] }): Iterable<EnvoyFinding> {
  for (const [index, { specifier }] of keys.entries()) {
    const { value } = specifier;
    const isInline = specifier.case === "inlineString" || specifier.case === "inlineBytes";
    if (!isInline || value === undefined) continue;
    const size = typeof value === "string" ? Buffer.byteLength(value) : value.length;
    if (size !== ticketKeySize)
      yield finding(["keys", index], `has ${size} bytes; a key has ${ticketKeySize}`);
  }
}
