import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type DataSource,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "./envoy-check.ts";

const filters = "envoy.extensions.filters.http";

/** Users, keys, limits, descriptors, functions and files of HTTP filters that Envoy rejects. */
export const httpFilterChecks: readonly EnvoyCheck[] = [
  ...["BasicAuth", "BasicAuthPerRoute"].map((type) =>
    envoyCheck("bad-value", `${filters}.basic_auth.v3.${type}`, passwords),
  ),
  ...["ApiKeyAuth", "ApiKeyAuthPerRoute"].map((type) =>
    envoyCheck("bad-value", `${filters}.api_key_auth.v3.${type}`, apiKeys),
  ),
  envoyCheck("bad-value", `${filters}.local_ratelimit.v3.LocalRateLimit`, descriptors),
  envoyCheck("bad-listener", `${filters}.ip_tagging.v3.IPTagging`, ipTags),
  envoyCheck(
    "bad-listener",
    `${filters}.grpc_json_transcoder.v3.GrpcJsonTranscoder`,
    transcodedServices,
  ),
  envoyCheck("bad-value", `${filters}.aws_lambda.v3.Config`, nameOfFunction),
  envoyCheck(
    "bad-listener",
    "envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig",
    databaseFiles,
  ),
];

/** The length of a SHA-1 hash in base64. */
const hashLength = 28;

/** Checks lines in the format of `htpasswd -s`. No part of a hash is shown. */
function* passwords(
  { users }: { users?: DataSource },
  { files }: CheckScene,
): Iterable<EnvoyFinding> {
  const { case: form, value } = users?.specifier ?? { case: undefined };
  const [field, text] =
    form === "filename"
      ? ["filename", files?.read(String(value))]
      : form === "inlineString"
        ? ["inline_string", value]
        : ["", undefined];
  if (typeof text !== "string") return;
  if (text === "") yield finding(["users", field], "must not be empty");
  const seen = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const fault = passwordFault(line, seen);
    if (fault === undefined) continue;
    yield finding(
      ["users", field],
      `has ${fault} in line ${index + 1}`,
      'a line is "NAME:{SHA}HASH", as "htpasswd -s" writes it',
    );
    return;
  }
}

/** Returns the problem of a line, as a text that is followed by the line number. undefined: the line is valid. */
function passwordFault(line: string, seen: Set<string>): string | undefined {
  const colon = line.indexOf(":");
  if (colon === -1) return "no colon";
  const name = line.slice(0, colon);
  const hash = line.slice(colon + 1);
  if (name === "" || hash === "") return "an empty name or hash";
  if (seen.has(name)) return `the name ${quote(name)} again`;
  seen.add(name);
  if (!hash.startsWith("{SHA}")) return "a hash that does not begin with {SHA}";
  const { length } = hash.slice("{SHA}".length);
  return length === hashLength
    ? undefined
    : `a hash of ${length} characters instead of ${hashLength}`;
}

function* apiKeys({
  credentials,
}: {
  credentials: readonly { readonly key: string }[];
}): Iterable<EnvoyFinding> {
  const seen = new Map<string, number>();
  for (const [index, { key }] of credentials.entries()) {
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else yield finding(["credentials", index, "key"], `is the key of credentials[${first}] too`);
  }
}

/** Checks descriptors. Two are equal if they have the same entries in the same order. */
function* descriptors({
  descriptors: list,
}: {
  descriptors: readonly {
    readonly entries: readonly { readonly key: string; readonly value: string }[];
  }[];
}): Iterable<EnvoyFinding> {
  const seen = new Map<string, number>();
  for (const [index, { entries }] of list.entries()) {
    const text = JSON.stringify(entries.map(({ key, value }) => [key, value]));
    const first = seen.get(text);
    if (first === undefined) seen.set(text, index);
    else yield finding(["descriptors", index, "entries"], `are those of descriptors[${first}] too`);
  }
}

function* ipTags({
  ipTags: tags,
  ipTagsDatasource,
}: {
  ipTags: readonly object[];
  ipTagsDatasource?: object;
}): Iterable<EnvoyFinding> {
  if (tags.length === 0 && ipTagsDatasource === undefined)
    yield finding([], "needs ip_tags or ip_tags_datasource");
  if (tags.length > 0 && ipTagsDatasource !== undefined)
    yield finding(["ip_tags_datasource"], "cannot be set next to ip_tags", "keep one of them");
}

/** Checks transcoded services. Envoy reads the descriptors only if there are services. */
function* transcodedServices(
  { descriptorSet, services }: { descriptorSet: Oneof; services: readonly string[] },
  { files }: CheckScene,
): Iterable<EnvoyFinding> {
  if (services.length === 0 || descriptorSet.case !== "protoDescriptor") return;
  const path = String(descriptorSet.value);
  if (files !== undefined && path !== "" && !files.exists(path))
    yield finding(
      ["proto_descriptor"],
      "is not a file that can be read",
      "Envoy reads it when it starts, relative to its working directory",
    );
}

/** Checks the name of a function, as Envoy splits it: at six colons. */
function* nameOfFunction({ arn }: { arn: string }): Iterable<EnvoyFinding> {
  if (arn !== "" && !/^arn:(?:[^:]*:){5}/.test(arn))
    yield finding(
      ["arn"],
      `${quote(arn)} is not the ARN of a function`,
      "write arn:aws:lambda:REGION:ACCOUNT:function:NAME",
    );
}

/** The files of a provider of places, by their fields. */
const databases = [
  ["anonDbPath", "anon_db_path"],
  ["asnDbPath", "asn_db_path"],
  ["cityDbPath", "city_db_path"],
  ["countryDbPath", "country_db_path"],
  ["ispDbPath", "isp_db_path"],
] as const;

function* databaseFiles(
  provider: Partial<Readonly<Record<(typeof databases)[number][0], string>>>,
  { files }: CheckScene,
): Iterable<EnvoyFinding> {
  for (const [key, field] of databases) {
    const path = provider[key] ?? "";
    if (path !== "" && files?.exists(path) === false)
      yield finding([field], "is not a file that can be read", "Envoy reads it when it starts");
  }
}
