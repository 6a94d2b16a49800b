import { quote } from "../folder-problem.ts";

/** Curves and groups of BoringSSL, by the names that Envoy 1.40 accepts. */
export const curves: ReadonlySet<string> = new Set([
  "MLKEM1024",
  "P-256",
  "P-384",
  "P-521",
  "X25519",
  "X25519MLKEM768",
  "prime256v1",
  "secp384r1",
  "secp521r1",
  "x25519",
]);

/** Signature algorithms, by their names in TLS 1.3, and by key and hash. */
export const signatureAlgorithms: ReadonlySet<string> = new Set([
  "ecdsa_secp256r1_sha256",
  "ecdsa_secp384r1_sha384",
  "ecdsa_secp521r1_sha512",
  "ecdsa_sha1",
  "ed25519",
  "rsa_pkcs1_sha1",
  "rsa_pkcs1_sha256",
  "rsa_pkcs1_sha384",
  "rsa_pkcs1_sha512",
  "rsa_pss_rsae_sha256",
  "rsa_pss_rsae_sha384",
  "rsa_pss_rsae_sha512",
  ...["ECDSA", "RSA"].flatMap((key) =>
    ["SHA1", "SHA256", "SHA384", "SHA512"].map((hash) => `${key}+${hash}`),
  ),
  ...["PSS", "RSA-PSS"].flatMap((key) =>
    ["SHA256", "SHA384", "SHA512"].map((hash) => `${key}+${hash}`),
  ),
]);

/** Ciphers of each key exchange: the OpenSSL names without the part of the exchange, and the names in RFCs. */
const suites: readonly (readonly [exchange: string, openSsl: readonly string[], rfc: string])[] = [
  ["", ["AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384"], "RSA"],
  ["PSK-", ["AES128-CBC-SHA", "AES256-CBC-SHA"], "PSK"],
  ["ECDHE-PSK-", ["AES128-CBC-SHA", "AES256-CBC-SHA", "CHACHA20-POLY1305"], "ECDHE_PSK"],
  ...(["ECDSA", "RSA"] as const).map(
    (key) =>
      [
        `ECDHE-${key}-`,
        [
          "AES128-SHA",
          "AES256-SHA",
          "AES128-SHA256",
          "AES128-GCM-SHA256",
          "AES256-GCM-SHA384",
          "CHACHA20-POLY1305",
        ],
        `ECDHE_${key}`,
      ] as const,
  ),
];

/** The names of the ciphers in RFCs. */
const rfcNames: Readonly<Record<string, string>> = {
  "AES128-SHA": "AES_128_CBC_SHA",
  "AES256-SHA": "AES_256_CBC_SHA",
  "AES128-CBC-SHA": "AES_128_CBC_SHA",
  "AES256-CBC-SHA": "AES_256_CBC_SHA",
  "AES128-SHA256": "AES_128_CBC_SHA256",
  "AES128-GCM-SHA256": "AES_128_GCM_SHA256",
  "AES256-GCM-SHA384": "AES_256_GCM_SHA384",
  "CHACHA20-POLY1305": "CHACHA20_POLY1305_SHA256",
};

/** Cipher suites of BoringSSL that can be chosen. */
const cipherSuites: ReadonlySet<string> = new Set([
  "DES-CBC3-SHA",
  "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
  ...suites.flatMap(([exchange, names, rfc]) =>
    names.flatMap((name) => [`${exchange}${name}`, `TLS_${rfc}_WITH_${rfcNames[name] ?? ""}`]),
  ),
]);

/** Names of groups of cipher suites. */
const cipherGroups: ReadonlySet<string> = new Set(
  "3DES AES AES128 AES256 AESGCM ALL CHACHA20 ECDH ECDHE ECDSA EECDH FIPS HIGH PSK RSA SHA SHA1 SSLv3 TLSv1 TLSv1.2 aECDSA aPSK aRSA kECDHE kEECDH kPSK kRSA".split(
    " ",
  ),
);

/** Suites of TLS 1.3, which are always enabled. They may be listed, which has no effect. */
const fixedSuites: ReadonlySet<string> = new Set([
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
]);

/**
 * Returns the problem of a list of cipher suites, and the suite that has it. undefined: the list is valid.
 * Each item may be one name, names of equal preference in brackets (`[A|B]`), groups that must all apply (`ECDHE+AESGCM`), or several of these separated by colons. A sign before an item removes its suites.
 */
export function cipherFault(
  list: readonly string[],
): { readonly index: number; readonly message: string } | undefined {
  let chosen = 0;
  for (const [index, text] of list.entries())
    for (const [at, term] of text.split(":").entries()) {
      const isFirst = index === 0 && at === 0;
      if (term === "" || term === "@STRENGTH") continue;
      const sign = /^[-!+]/.exec(term)?.[0] ?? "";
      const names = /^\[(.+)\]$/.exec(term)?.[1]?.split("|") ?? [term.slice(sign.length)];
      const isKnown = names.every((name) => isCipher(name) || (name === "DEFAULT" && isFirst));
      if (!isKnown)
        return { index, message: `${quote(text)} is not a cipher suite that Envoy has` };
      if (sign === "" && names.some((name) => !fixedSuites.has(name))) chosen++;
    }
  const isGiven = list.some((text) => text !== "");
  return isGiven && chosen === 0 ? { index: 0, message: "chooses no cipher suite" } : undefined;
}

function isCipher(name: string): boolean {
  if (cipherSuites.has(name) || fixedSuites.has(name)) return true;
  return name.split("+").every((one) => cipherGroups.has(one));
}
