import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { SecretSchema } from "@xdstp/protos/envoy/secret";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { useFeed } from "../test/use-feed.ts";
import { type Files, useFolder } from "../test/use-folder.ts";
import { formatProblem, readFolder } from "./index.ts";

const authority = createTestAuthority();
const one = authority.issue({ name: "one" });
const two = authority.issue({ name: "two" });
const registry = envoyRegistry();
const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const web = "_opaque/secrets/web";
const pair = ({ cert, key }: typeof one): Files => ({
  [`${web}/tls.crt`]: cert,
  [`${web}/tls.key`]: key,
});

const read = async (files: Files) => {
  const { dir } = await useFolder(files);
  const { resources, problems, warnings } = await readFolder({ dir, registry });
  const text = problems.map(formatProblem).join("\n").replaceAll(dir, "config");
  return {
    dir,
    resources,
    warnings,
    text,
    secrets: resources.map(({ resource }) => secretOf(resource.payload.value)),
  };
};

/** The parts of a secret that tests read. */
const secretOf = (payload: Uint8Array) => {
  const { name, type } = fromBinary(SecretSchema, payload);
  if (type.case === "tlsCertificate")
    return {
      name,
      cert: type.value.certificateChain?.specifier.value,
      key: type.value.privateKey?.specifier.value,
    };
  return {
    name,
    ca: type.case === "validationContext" ? type.value.trustedCa?.specifier.value : undefined,
  };
};

const yaml = (certificate: string, key: string): string =>
  `tls_certificate:
  certificate_chain: {filename: ${certificate}}
  private_key: {filename: ${key}}
`;

describe("a directory of PEM files", () => {
  it("is a secret with its certificate and key", async () => {
    const { secrets, text, warnings } = await read(pair(one));
    expect(text).toBe("");
    expect(warnings).toEqual([]);
    expect(secrets).toEqual([{ name: "web", cert: one.cert, key: one.key }]);
  });

  it("is a validation context where it has the certificate of an authority alone", async () => {
    const { secrets, text } = await read({ [`${web}/ca.crt`]: authority.cert });
    expect(text).toBe("");
    expect(secrets).toEqual([{ name: "web", ca: authority.cert }]);
  });

  it("is two secrets where it has an authority next to a certificate", async () => {
    const { secrets } = await read({ ...pair(one), [`${web}/ca.crt`]: authority.cert });
    expect(secrets.map(({ name }) => name).sort()).toEqual(["web", "web/ca"]);
  });

  it("may lie below an authority, with the full name of the type, and below _nodes", async () => {
    const type = "envoy.extensions.transport_sockets.tls.v3.Secret";
    const { resources, text } = await read({
      [`a.com/${type}/ns/web/tls.crt`]: one.cert,
      [`a.com/${type}/ns/web/tls.key`]: one.key,
      [`_nodes/edge/${web}/tls.crt`]: two.cert,
      [`_nodes/edge/${web}/tls.key`]: two.key,
    });
    expect(text).toBe("");
    expect(resources.map(({ resource: { name }, node }) => [name, node])).toEqual([
      ["web", "edge"],
      [`xdstp://a.com/${type}/ns/web`, undefined],
    ]);
  });

  it("says which two files do not fit, and nothing of what they hold", async () => {
    const { resources, text } = await read({ ...pair(one), [`${web}/tls.key`]: two.key });
    expect(resources).toEqual([]);
    expect(text).toBe(
      `config/${web}/tls.key: is not the private key of the certificate config/${web}/tls.crt (replace both; the pair before is served until then)`,
    );
  });

  const broken: readonly (readonly [what: string, files: Files, problem: string])[] = [
    [
      "a certificate without a key",
      { [`${web}/tls.crt`]: one.cert },
      `${web}/tls.key: does not exist (write it, or correct the name)`,
    ],
    [
      "a key without a certificate",
      { [`${web}/tls.key`]: one.key },
      `${web}/tls.key: is a private key without a certificate (write its certificate to tls.crt next to it)`,
    ],
    [
      "a key in the place of the certificate",
      { ...pair(one), [`${web}/tls.crt`]: one.key },
      `${web}/tls.crt: holds no certificate in PEM that can be read (write -----BEGIN CERTIFICATE----- and what follows it)`,
    ],
    [
      "a key that is cut off",
      { ...pair(one), [`${web}/tls.key`]: one.key.slice(0, 100) },
      `${web}/tls.key: holds no private key in PEM that can be read (write -----BEGIN PRIVATE KEY----- and what follows it, and the password of an encrypted one into the field password)`,
    ],
    ["an empty key", { ...pair(one), [`${web}/tls.key`]: "" }, `${web}/tls.key: is empty`],
    [
      "an authority that is none",
      { [`${web}/ca.crt`]: "ca" },
      `${web}/ca.crt: holds no certificate in PEM that can be read (write -----BEGIN CERTIFICATE----- and what follows it)`,
    ],
  ];
  for (const [what, files, problem] of broken)
    it(`shows ${what}`, async () => {
      const { text, resources } = await read(files);
      expect(text).toBe(`config/${problem}`);
      expect(resources).toEqual([]);
    });

  const keysInCertificates: readonly (readonly [file: string, files: Files])[] = [
    [`${web}/tls.crt`, { ...pair(one), [`${web}/tls.crt`]: one.cert + one.key }],
    [
      `${web}/tls.crt`,
      { ...pair(one), [`${web}/tls.crt`]: `${one.key.split("-----END")[0] ?? ""}${one.cert}` },
    ],
    [`${web}/ca.crt`, { [`${web}/ca.crt`]: authority.cert + one.key }],
    [
      "certs/web.pem",
      {
        "certs/web.pem": `-----BEGIN EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----\n${one.cert}`,
        "certs/web.key": one.key,
        [`${web}.yaml`]: yaml("../../certs/web.pem", "../../certs/web.key"),
      },
    ],
  ];
  for (const [index, [file, files]] of keysInCertificates.entries())
    it(`is rejected where a certificate has a private key in its file: ${file}, ${index}`, async () => {
      const { text, resources } = await read(files);
      expect(text).toBe(
        `config/${file}: holds a private key too, and everything may read a certificate (keep the key in a file of its own, such as tls.key)`,
      );
      expect(resources).toEqual([]);
    });

  it("may have a chain of certificates and texts between them", async () => {
    const chain = `web\n${one.cert}the authority\n${authority.cert}`;
    const { secrets, text } = await read({ ...pair(one), [`${web}/tls.crt`]: chain });
    expect(text).toBe("");
    expect(secrets).toMatchObject([{ cert: chain }]);
  });

  it("clashes with a file of the same name [N-40]", async () => {
    const { text } = await read({ ...pair(one), [`${web}.yaml`]: "{}" });
    expect(text).toContain(`the name "web" stands here and in config/${web}`);
  });
});

describe("a file that a secret names", () => {
  const files = { "certs/web.pem": one.cert, "certs/web.key": one.key };

  it("is read where its path is relative, and an absolute one is left to the client", async () => {
    const { secrets, text, warnings } = await read({
      ...files,
      [`${web}.yaml`]: yaml("../../certs/web.pem", "../../certs/web.key"),
      "_opaque/secrets/far.yaml": yaml("/etc/ssl/x.pem", "/etc/ssl/x.key"),
    });
    expect(text).toBe("");
    expect(warnings).toEqual([]);
    expect(secrets).toEqual([
      { name: "far", cert: "/etc/ssl/x.pem", key: "/etc/ssl/x.key" },
      { name: "web", cert: one.cert, key: one.key },
    ]);
  });

  it("is read in every format, and in a wrapper", async () => {
    const json = JSON.stringify({
      resource: {
        tls_certificate: {
          certificate_chain: { filename: "../../certs/web.pem" },
          private_key: { filename: "../../certs/web.key" },
        },
      },
    });
    const { value } = anyFromJson(
      {
        "@type": secretUrl,
        name: "bytes",
        validation_context: { trusted_ca: { filename: "../../certs/web.pem" } },
      },
      registry,
    );
    const { secrets, text } = await read({
      ...files,
      "_opaque/secrets/bytes.pb": value,
      "_opaque/secrets/json.json": json,
      "_opaque/secrets/text.txtpb": `generic_secret { secret { filename: "../../certs/web.key" } }`,
    });
    expect(text).toBe("");
    expect(secrets).toMatchObject([
      { name: "bytes", ca: one.cert },
      { name: "json", key: one.key },
      { name: "text" },
    ]);
  });

  it("has to lie in the folder, also behind its links", async () => {
    const outside = await useFolder({ "web.key": one.key });
    const { dir, write, link } = await useFolder({
      [`${web}.yaml`]: yaml("../../../x.pem", "../../certs/web.key"),
    });
    await write({ "certs/x": "" });
    await link("certs/web.key", join(outside.dir, "web.key"));
    const problemsOf = async () =>
      (await readFolder({ dir, registry })).problems
        .map(formatProblem)
        .join()
        .replaceAll(dir, "config");
    expect(await problemsOf()).toBe(
      `config/${web}.yaml:2:23: tls_certificate.certificate_chain.filename: "../../../x.pem" lies outside of the folder, and files outside are not read (move it into the folder)`,
    );
    await write({
      "certs/web.pem": one.cert,
      [`${web}.yaml`]: yaml("../../certs/web.pem", "../../certs/web.key"),
    });
    expect(await problemsOf()).toBe(
      `config/${web}.yaml:3:17: tls_certificate.private_key.filename: "../../certs/web.key" lies outside of the folder, and files outside are not read (move it into the folder)`,
    );
  });

  it("is shown where it does not exist, in a wrapper too", async () => {
    const { text } = await read({
      [`${web}.yaml`]: `ttl: 60s
resource:
  validation_context:
    trusted_ca: {filename: ca.pem}
`,
    });
    expect(text).toBe(
      `config/${web}.yaml:4:18: validation_context.trusted_ca.filename: "ca.pem" does not exist (write it, or correct the name)`,
    );
  });

  it("is found below a key of a map that is called like the wrapper's field", async () => {
    const { text } = await read({
      [`${web}.yaml`]: `generic_secret:
  secrets:
    resource:
      filename: key
`,
    });
    expect(text).toBe(
      `config/${web}.yaml:4:7: generic_secret.secrets.resource.filename: "key" does not exist (write it, or correct the name)`,
    );
  });

  const notPaths: readonly (readonly [what: string, filename: string])[] = [
    ["a key", "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"],
    ["a key on one line", "-----BEGIN PRIVATE KEY-----SECRET-----END PRIVATE KEY-----"],
    ["a text with a control character", "SECRET\0"],
    ["a name that is too long", `certs/${"SECRET".repeat(43)}`],
    ["a path that is too long", "SECRET/".repeat(150)],
  ];
  for (const [what, filename] of notPaths)
    it(`is not shown where it is ${what}`, async () => {
      const { text } = await read({
        [`${web}.yaml`]: yaml("web.pem", JSON.stringify(filename)).replace(/.*web.pem.*\n/, ""),
      });
      expect(text).toBe(
        `config/${web}.yaml:2:17: tls_certificate.private_key.filename is not a path (write the path of a file, or write the text into inline_string)`,
      );
    });

  it("is not shown by the error of the file system", async () => {
    const { dir } = await useFolder({ [`${web}.yaml`]: "{}" });
    const names = Array.from({ length: 900 }, () => "SECRET").join("/");
    const { problems } = await readFolder({ dir: join(dir, names), registry });
    expect(problems.map(({ message }) => message)).toEqual([
      "has a name that is too long (ENAMETOOLONG)",
    ]);
  });

  it("is named where a key does not fit", async () => {
    const { text } = await read({
      "certs/web.pem": one.cert,
      "certs/web.key": two.key,
      [`${web}.yaml`]: yaml("../../certs/web.pem", "../../certs/web.key"),
    });
    expect(text).toBe(
      "config/certs/web.key: is not the private key of the certificate config/certs/web.pem (replace both; the pair before is served until then)",
    );
  });
});

describe("createFolderFeed() of secrets in files", () => {
  it("keeps the pair before while half of it is replaced, and serves the new one when both are", async () => {
    const { dir, write } = await useFolder(pair(one));
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ [`${web}/tls.crt`]: two.cert });
    const { problems, serving } = await next("rejected");
    expect(serving).toBe(true);
    expect(problems.map(({ message }) => message).join()).toContain("is not the private key of");
    expect(JSON.stringify(problems)).not.toContain("BEGIN PRIVATE");
    await write({ [`${web}/tls.key`]: two.key });
    expect(await next("loaded")).toMatchObject({ put: 1, removed: 0 });
    const [put] = sink.transactions.at(-1)?.put ?? [];
    expect(secretOf(put?.resource.payload.value ?? new Uint8Array())).toMatchObject({
      key: two.key,
    });
  });

  it("follows the links of a mounted Secret of Kubernetes", async () => {
    const { dir } = await useFolder({ "_opaque/clusters/x.yaml": "{}" });
    const mount = join(dir, web);
    const version = (name: string, { cert, key }: typeof one): void => {
      mkdirSync(join(mount, name), { recursive: true });
      writeFileSync(join(mount, name, "tls.crt"), cert);
      writeFileSync(join(mount, name, "tls.key"), key);
      symlinkSync(name, join(mount, "..tmp"));
      renameSync(join(mount, "..tmp"), join(mount, "..data"));
    };
    version("..2026_1", one);
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(`..data/${name}`, join(mount, name));
    const { next } = useFeed({ dir });
    expect(await next("loaded")).toMatchObject({ resources: 2 });
    version("..2026_2", two);
    expect(await next("loaded")).toMatchObject({ put: 1, removed: 0 });
  });

  it("follows a file that a secret names", async () => {
    const { dir, write } = await useFolder({
      "certs/ca.pem": one.cert,
      "_opaque/clusters/x.yaml": "{}",
      [`${web}.yaml`]: "validation_context: {trusted_ca: {filename: ../../certs/ca.pem}}",
    });
    const { next } = useFeed({ dir });
    await next("loaded");
    await write({ "certs/ca.pem": two.cert });
    expect(await next("loaded")).toMatchObject({ put: 1 });
    await write({ "certs/ca.pem": "" });
    await next("rejected");
    await write({ "certs/ca.pem": two.cert });
    expect(await next("loaded")).toMatchObject({ removed: 0 });
  });
});

it("equal files give equal bytes, whichever way they are named [S-VER-4]", async () => {
  const direct = toBinary(
    SecretSchema,
    fromBinary(
      SecretSchema,
      (await read(pair(one))).resources[0]?.resource.payload.value ?? new Uint8Array(),
    ),
  );
  const named = await read({
    "certs/web.pem": one.cert,
    "certs/web.key": one.key,
    [`${web}.yaml`]: yaml("../../certs/web.pem", "../../certs/web.key"),
  });
  expect(Buffer.from(named.resources[0]?.resource.payload.value ?? []).equals(direct)).toBe(true);
});
