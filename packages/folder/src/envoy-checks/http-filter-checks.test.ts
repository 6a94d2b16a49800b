import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const filters = "envoy.extensions.filters.http";
const users = `${filters}.basic_auth.v3.BasicAuth`;
const keys = `${filters}.api_key_auth.v3.ApiKeyAuth`;
const limit = `${filters}.local_ratelimit.v3.LocalRateLimit`;
const tags = `${filters}.ip_tagging.v3.IPTagging`;
const transcoder = `${filters}.grpc_json_transcoder.v3.GrpcJsonTranscoder`;

/** The SHA-1 of "test", as `htpasswd -s` writes it. */
const hash = "{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=";
const inline = (text: string) => ({ users: { inline_string: text } });
const key = (...all: readonly string[]) => ({
  credentials: all.map((one, index) => ({ key: one, client: `client-${index}` })),
});
const bucket = { max_tokens: 1, fill_interval: "1s" };
const descriptor = (...entries: readonly (readonly [key: string, value: string])[]) => ({
  entries: entries.map(([name, value]) => ({ key: name, value })),
  token_bucket: bucket,
});
const lambda = "envoy.extensions.filters.http.aws_lambda.v3.Config";
const places = "envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig";
const signing = "envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning";
const google = "envoy.config.core.v3.GrpcService.GoogleGrpc.ChannelCredentials";
/** A provider of credentials whose file does not exist. */
const credentials = (provider: string, source: string) => ({
  credential_provider: { [provider]: { [source]: { filename: "none" } } },
});
const noFiles = { exists: () => false, read: () => undefined };

describe("HTTP filters that Envoy rejects", () => {
  it.each<readonly [problem: string, type: string, json: JsonObject]>([
    ["bad-value users.inline_string: must not be empty", users, inline("")],
    ["bad-value users.inline_string: has no colon in line 2", users, inline(`a:${hash}\nb`)],
    ["bad-value users.inline_string: has no colon in line 2", users, inline(`a:${hash}\n `)],
    [
      "bad-value users.inline_string: has an empty name or hash in line 1",
      users,
      inline(`:${hash}`),
    ],
    ["bad-value users.inline_string: has an empty name or hash in line 1", users, inline("a:")],
    [
      "bad-value users.inline_string: has a hash that does not begin with {SHA} in line 1",
      `${filters}.basic_auth.v3.BasicAuthPerRoute`,
      inline("a:$apr1$salt$hash"),
    ],
    [
      "bad-value users.inline_string: has a hash of 29 characters instead of 28 in line 1",
      users,
      inline(`a:${hash}\r\n`),
    ],
    [
      'bad-value users.inline_string: has the name "a" again in line 3',
      users,
      inline(`a:${hash}\n\na:${hash}`),
    ],
    ["bad-value credentials[2].key: is the key of credentials[0] too", keys, key("a", "b", "a")],
    [
      "bad-value credentials[1].key: is the key of credentials[0] too",
      `${filters}.api_key_auth.v3.ApiKeyAuthPerRoute`,
      key("a", "a"),
    ],
    [
      "bad-value descriptors[1].entries: are those of descriptors[0] too",
      limit,
      { descriptors: [descriptor(["a", "b"], ["c", ""]), descriptor(["a", "b"], ["c", ""])] },
    ],
    [
      "bad-value descriptors[0].token_bucket.fill_interval: must be at least 0.05s",
      limit,
      { descriptors: [{ token_bucket: { fill_interval: "0.049s" } }] },
    ],
    ["bad-listener : needs ip_tags or ip_tags_datasource", tags, {}],
    [
      "bad-listener ip_tags_datasource: cannot be set next to ip_tags",
      tags,
      { ip_tags: [{ ip_tag_name: "a" }], ip_tags_datasource: { inline_string: "" } },
    ],
    [
      "bad-listener proto_descriptor: is not a file that can be read",
      transcoder,
      { services: ["a.B"], proto_descriptor: "services.pb" },
    ],
    ['bad-value arn: "<FUNCTION>" is not the ARN of a function', lambda, { arn: "<FUNCTION>" }],
    [
      'bad-value arn: "arn:aws:lambda:eu-west-1:1:function" is not the ARN of a function',
      lambda,
      { arn: "arn:aws:lambda:eu-west-1:1:function" },
    ],
    [
      "bad-listener city_db_path: is not a file that can be read",
      places,
      { city_db_path: "none.mmdb" },
    ],
  ])("%s", (problem, type, json) => {
    expect(envoyRejections(type, json, noFiles)).toEqual([problem]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [users, inline(`# two users\na:${hash}\n\nb:${hash}\n`)],
    // Envoy counts the characters of a hash and does not decode them.
    [users, inline("a:{SHA}!!!!!!!!!!!!!!!!!!!!!!!!!!!!")],
    [keys, { credentials: ["a", "b"].map((one) => ({ key: one, client: "same" })) }],
    [
      limit,
      {
        descriptors: [
          descriptor(["a", "b"], ["c", "d"]),
          descriptor(["c", "d"], ["a", "b"]),
          descriptor(["a", 'b","c']),
          descriptor(["a", "b"], ["c", ""]),
        ],
      },
    ],
    [tags, { ip_tags: [{ ip_tag_name: "a" }, { ip_tag_name: "a" }] }],
    [transcoder, { proto_descriptor: "services.pb" }],
    // Envoy splits a name at its colons, and takes every part.
    ...["arn:aws:lambda:eu-west-1:1:function:a:prod", "arn:aws-cn:lambda:::function:"].map(
      (arn) => [lambda, { arn }] as const,
    ),
    [places, {}],
    // Envoy reads the files of credentials when it needs them.
    [
      signing,
      credentials("assume_role_with_web_identity_provider", "web_identity_token_data_source"),
    ],
    [signing, credentials("credentials_file_provider", "credentials_data_source")],
    [google, { ssl_credentials: { root_certs: { filename: "none.pem" } } }],
    [transcoder, { services: ["a.B"], proto_descriptor_bin: "CgA=" }],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json, noFiles)).toEqual([]);
  });

  it("reads the users in a file", () => {
    const files = { exists: () => true, read: () => "a" };
    expect(envoyRejections(users, { users: { filename: "users" } }, files)).toEqual([
      "bad-value users.filename: has no colon in line 1",
    ]);
    expect(envoyRejections(users, { users: { filename: "users" } })).toEqual([]);
  });

  it("looks at 20,000 keys once", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `key-${index}`);
    const started = performance.now();
    expect(envoyRejections(keys, key(...many))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
