import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRegistry } from "./index.ts";
import { isSecretField } from "./secrecy.ts";

/** Fields that sound like secrets and are none, and why. */
const excused: Readonly<Record<string, string>> = {
  "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames.bearer_token":
    "the name of a cookie",
  "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames.id_token":
    "the name of a cookie",
  "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames.refresh_token":
    "the name of a cookie",
  "envoy.extensions.geoip_providers.common.v3.CommonGeoipProviderConfig.GeolocationFieldKeys.apple_private_relay":
    "the name of a field",
  "envoy.extensions.geoip_providers.common.v3.CommonGeoipProviderConfig.GeolocationHeadersToAdd.apple_private_relay":
    "the name of a header",
  "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.prefetch_secret_names":
    "names of Secrets",
};

const suspicious = /secret|token$|password|passphrase|json_key|private|api_key|jwks$/;
const registry = envoyRegistry();

/** Texts, bytes and DataSources, one or many. */
function holdsContent({ scalar, message }: DescField): boolean {
  return (
    scalar === ScalarType.STRING ||
    scalar === ScalarType.BYTES ||
    message?.typeName === "envoy.config.core.v3.DataSource"
  );
}

describe("isSecretField()", () => {
  it("knows every field of the API that sounds like a secret and can hold one, or the field is excused by name [B-CSDS-7]", () => {
    const messages = [...registry].filter((desc) => desc.kind === "message");
    const open = messages
      .flatMap(({ fields }) => fields)
      .filter(
        (field) =>
          suspicious.test(field.name) && holdsContent(field) && !isSecretField(field, registry),
      );
    expect(open.map((field) => `${field.parent.typeName}.${field.name}`).toSorted()).toEqual(
      Object.keys(excused).toSorted(),
    );
  });
});
