import {
  SubjectAltNameMatcher_SanType as SanType,
  type CertificateValidationContext,
} from "@xdstp/protos/envoy/tls";

import type { Place } from "../grpc/place.ts";
import { inside, unsupportedAt } from "./inside.ts";

/** What there is to check next to authority and name, or to leave out. */
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
 * The name that the certificate of a server has to be for. Further checks would be left out, so they throw an XdsError, UNIMPLEMENTED.
 * @param name - The SNI, else the host
 */
export function checkPeerChecks(
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

/** A certificate that is good for a name has it among its alternative names. */
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
