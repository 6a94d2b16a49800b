import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const tls = "envoy.extensions.transport_sockets.tls.v3";
const upstream = `${tls}.UpstreamTlsContext`;
const downstream = `${tls}.DownstreamTlsContext`;
const chain = { certificate_chain: { environment_variable: "CHAIN" } };
const pair = { ...chain, private_key: { environment_variable: "KEY" } };
const names = [{ san_type: "DNS", matcher: { exact: "a" } }];
const authority = { trusted_ca: { environment_variable: "CA" } };

const common = (json: JsonObject): JsonObject => ({ common_tls_context: json });
const verify = (json: JsonObject): JsonObject => common({ validation_context: json });

describe("contexts of TLS", () => {
  it.each<readonly [type: string, json: JsonObject, problem: string]>([
    [downstream, common({}), "common_tls_context: a server needs a certificate"],
    [
      downstream,
      common({ tls_certificates: [{}] }),
      "common_tls_context.tls_certificates[0]: a certificate needs certificate_chain",
    ],
    [
      downstream,
      common({ tls_certificates: [pair], tls_certificate_sds_secret_configs: [{ name: "a" }] }),
      "common_tls_context.tls_certificate_sds_secret_configs: cannot be set next to tls_certificates",
    ],
    [
      downstream,
      { ...common({ tls_certificates: [pair] }), ocsp_staple_policy: "MUST_STAPLE" },
      "common_tls_context.tls_certificates[0]: needs ocsp_staple, since ocsp_staple_policy is MUST_STAPLE",
    ],
    [
      downstream,
      {
        ...common({ tls_certificates: [pair] }),
        session_ticket_keys: { keys: [{ inline_string: "short" }] },
      },
      "session_ticket_keys.keys[0]: has 5 bytes; a key has 80",
    ],
    [
      upstream,
      common({ tls_certificates: [chain] }),
      "common_tls_context.tls_certificates[0]: a certificate needs its private_key",
    ],
    [
      upstream,
      common({ tls_certificates: [{ private_key: pair.private_key }] }),
      "common_tls_context.tls_certificates[0]: a certificate needs certificate_chain",
    ],
    [
      upstream,
      common({ tls_certificates: [{ pkcs12: { filename: "a" }, ...pair }] }),
      "common_tls_context.tls_certificates[0].certificate_chain: cannot be set next to pkcs12",
    ],
    [
      upstream,
      common({ tls_certificates: [{ ...pair, ocsp_staple: { inline_string: "a" } }] }),
      "common_tls_context.tls_certificates[0].ocsp_staple.inline_string: cannot hold a response of OCSP, which is bytes",
    ],
    [
      upstream,
      common({ tls_certificates: [pair, pair] }),
      "common_tls_context.tls_certificates: a client shows one certificate, and this makes several",
    ],
    [
      upstream,
      verify({ match_typed_subject_alt_names: names }),
      "common_tls_context.validation_context.match_typed_subject_alt_names: needs trusted_ca next to it",
    ],
    [
      upstream,
      verify({ allow_expired_certificate: true }),
      "common_tls_context.validation_context.allow_expired_certificate: needs trusted_ca next to it",
    ],
    [
      upstream,
      verify({
        ...authority,
        match_typed_subject_alt_names: [{ san_type: "OTHER_NAME", matcher: { exact: "a" } }],
      }),
      "common_tls_context.validation_context.match_typed_subject_alt_names[0].san_type: OTHER_NAME needs the oid of the name",
    ],
    [
      upstream,
      { auto_sni_san_validation: true },
      "auto_sni_san_validation: needs trusted_ca in the validation_context",
    ],
    [
      upstream,
      common({ alpn_protocols: ["h2", "h2,,h3"] }),
      "common_tls_context.alpn_protocols[1]: has a name that is empty or longer than 255 bytes",
    ],
    [
      upstream,
      common({ tls_params: { ecdh_curves: ["P-224"] } }),
      'common_tls_context.tls_params.ecdh_curves[0]: "P-224" is not a curve that Envoy has',
    ],
    [
      upstream,
      common({ tls_params: { signature_algorithms: ["ed448"] } }),
      'common_tls_context.tls_params.signature_algorithms[0]: "ed448" is not a signature algorithm that Envoy has',
    ],
    [
      upstream,
      common({ tls_params: { cipher_suites: ["ALL", "AES128-SHA256"] } }),
      'common_tls_context.tls_params.cipher_suites[1]: "AES128-SHA256" is not a cipher suite that Envoy has',
    ],
    [
      upstream,
      common({ tls_params: { cipher_suites: ["-ALL"] } }),
      "common_tls_context.tls_params.cipher_suites[0]: chooses no cipher suite",
    ],
  ])("%s does not take %j", (type, json, problem) => {
    expect(envoyRejections(type, json)).toEqual([`bad-tls ${problem}`]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [downstream, common({ tls_certificates: [pair, pair] })],
    [downstream, common({ tls_certificate_sds_secret_configs: [{ name: "a" }] })],
    [downstream, common({ tls_certificates: [{ pkcs12: { filename: "a" } }] })],
    [upstream, common({ tls_certificates: [{}] })],
    [upstream, verify({ ...authority, match_typed_subject_alt_names: names })],
    [upstream, verify({ max_verify_depth: 1 })],
    [upstream, { ...verify(authority), auto_sni_san_validation: true }],
    [upstream, common({ alpn_protocols: ["", "h2,http/1.1"] })],
    [upstream, common({ tls_params: { ecdh_curves: ["X25519MLKEM768", "P-256:P-384", ""] } })],
    [
      upstream,
      common({ tls_params: { signature_algorithms: ["rsa_pss_rsae_sha256:ed25519", "RSA+SHA1"] } }),
    ],
    ...[
      ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
      ["[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]", "ECDHE+AESGCM", "!3DES"],
      ["DEFAULT", "-PSK", "TLS_AES_128_GCM_SHA256"],
      ["ECDHE-PSK-AES128-CBC-SHA:@STRENGTH"],
    ].map((suites) => [upstream, common({ tls_params: { cipher_suites: suites } })] as const),
  ])("%s takes %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });

  it("reads what a static secret has", () => {
    const bootstrap = (secret: JsonObject, context: JsonObject): JsonObject => ({
      static_resources: {
        secrets: [{ name: "roots", validation_context: secret }],
        clusters: [
          {
            name: "web",
            transport_socket: {
              name: "tls",
              typed_config: { "@type": `type.googleapis.com/${upstream}`, ...common(context) },
            },
          },
        ],
      },
    });
    const at = "static_resources.clusters[0].transport_socket.typed_config.common_tls_context";
    const found = (secret: JsonObject, context: JsonObject) =>
      envoyRejections("envoy.config.bootstrap.v3.Bootstrap", bootstrap(secret, context));
    const config = { validation_context_sds_secret_config: { name: "roots" } };
    expect(found({ match_typed_subject_alt_names: names }, config)).toEqual([
      `bad-tls ${at}.validation_context_sds_secret_config: the validation context has match_typed_subject_alt_names, but no trusted_ca`,
    ]);
    const combined = {
      combined_validation_context: {
        default_validation_context: { match_typed_subject_alt_names: names },
        ...config,
      },
    };
    expect(found(authority, combined)).toEqual([]);
    expect(found({}, combined)).toEqual([
      `bad-tls ${at}.combined_validation_context.default_validation_context.match_typed_subject_alt_names: needs trusted_ca next to it`,
    ]);
  });
});
