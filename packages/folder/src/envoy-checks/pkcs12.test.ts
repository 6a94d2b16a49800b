import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

/** A bundle with a certificate and its key, whose password is `secret`. OpenSSL made it. */
const bundle = [
  "MIID/AIBAzCCA7IGCSqGSIb3DQEHAaCCA6MEggOfMIIDmzCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKo",
  "ZIhvcNAQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiBS8uzbHZfSAICCAAwDAYIKoZIhvcNAgkFADAd",
  "BglghkgBZQMEASoEEFC/sKfZyRt9VWScR4UytdmAggHQDgcowXdPj3UI3EWEhn4bGzQPQcuw+OBzMLehxvicNQjbea",
  "i17lAetbM9vpH9pMUs0IPjlvTy9vdXgFmLeHb7xp0XHE3myGSOB/yiqwqPnA9hEvhNr1tSLZAFg47tCnIZuj87ksz7",
  "0us9HS2M+7J5oBt0AVrFe1+Ou/30NVtiCU9HM9kRjJeuKSyKAZhbcyv1nrAJcDghmM51jwfmcIw9ED1V/LU5ETmJrp",
  "JYAHgVnUu1ja6dyoB8B5H0FVKSaAm5McloN/WsL2zUNo8I67a/S9PxP/WEXmJNKToqGRmS+joRlB1eukCbJcKlCYv4",
  "xSuySNzAzQynC/j71XEkQunK/i4PLQTeyUkLT/k5cMww3gQLIzuU6WjFoqihRyWaj21CNwYZpL5eRhLZGqhFxeL31V",
  "uk5daM4+UlP2m7AMBgktBWmGUGbo+IYeUxmdFIvKzwFHqQdzbR4AYsvRYl6p6AUebSe/UXYDkV430hwS6CyU++fcf2",
  "Ir8hmddCZq3cY8qC8e4cI+XtDVCH4JrHrl2yK3EnsIMSpWX0ZJH4Yq6z6lTJxmuwNQwp9oxx6cuUiYYt8z+TxJ/xr+",
  "OhCETHJ3h1PLUyiMjwDrq3c3htilBGu24wggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0BDAoB",
  "AqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIaKiNgAAtERACAggAMAwGCCqGSIb3DQIJBQAwHQ",
  "YJYIZIAWUDBAEqBBBabGqd+DDve1EfqgRILqu8BIGQXRQkau9cvUAUkY49qsHKNbnpo9U3uA4tMx10094hUJ866GKg",
  "dW7WreWBWDhMlZxgMvodTeJa2LR97QTzdvHpOmST1UabFJ8+iYvQbxucErT3xTz3gAGGlY5y0exJL4nyteDhq4XiZO",
  "dgjCtPqdebfB51/2A4PDqbzCuxGhFQpVk0l9FlWaBT4vqLatnbcRH+MSUwIwYJKoZIhvcNAQkVMRYEFD/gCJ7pcuiC",
  "20fghsvEmifJ8Fr/MEEwMTANBglghkgBZQMEAgEFAAQgfybdo4cN67X0dwezT+sckgVi3v0qsHGxqFcU6gJTEW0ECB",
  "FNJhaIUCP6AgIIAA==",
].join("");

const bytes = (inline: string): JsonObject => ({ inline_bytes: inline });
const rejections = (json: JsonObject, file?: Uint8Array): readonly string[] =>
  envoyRejections("envoy.extensions.transport_sockets.tls.v3.TlsCertificate", json, {
    exists: () => file !== undefined,
    read: () => undefined,
    readBytes: () => file,
  });
const password = (text: string): JsonObject => ({ inline_string: text });

describe("bundles of PKCS#12", () => {
  it("takes one that its password opens, in the configuration and in a file", () => {
    expect(rejections({ pkcs12: bytes(bundle), password: password("secret") })).toEqual([]);
    expect(
      rejections(
        { pkcs12: { filename: "a.p12" }, password: password("secret") },
        Buffer.from(bundle, "base64"),
      ),
    ).toEqual([]);
  });

  it("finds a wrong password, and a missing one", () => {
    expect(rejections({ pkcs12: bytes(bundle), password: password("other") })).toEqual([
      "bad-tls pkcs12.inline_bytes: cannot be opened with this password",
    ]);
    expect(rejections({ pkcs12: { filename: "a.p12" } }, Buffer.from(bundle, "base64"))).toEqual([
      "bad-tls pkcs12.filename: needs a password",
    ]);
  });

  it("finds bytes that are not a bundle", () => {
    const pem = Buffer.from("-----BEGIN CERTIFICATE-----");
    expect(rejections({ pkcs12: { filename: "a.pem" } }, pem)).toEqual([
      "bad-tls pkcs12.filename: is not a bundle of PKCS#12",
    ]);
  });

  it("checks nothing where the password is not known", () => {
    expect(
      rejections({ pkcs12: bytes(bundle), password: { environment_variable: "PASSWORD" } }),
    ).toEqual([]);
  });
});
