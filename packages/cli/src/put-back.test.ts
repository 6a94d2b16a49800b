import { join } from "node:path";
import { readFolder } from "@xdstp/folder";
import { registryWith } from "@xdstp/protos/envoy";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const cluster = "envoy.config.cluster.v3.Cluster";
const at = (id: string): string => `xdstp://a/${cluster}/${id}`;
const list = (type: string): string => `xdstp://a/${type}Collection/all`;
const flagSet = {
  file: [
    {
      name: "acme/flag.proto",
      package: "acme.v1",
      syntax: "proto3",
      messageType: [
        {
          name: "Flag",
          field: [{ name: "on", number: 1, label: "LABEL_OPTIONAL", type: "TYPE_BOOL" }],
        },
      ],
    },
  ],
};
const pair = createTestAuthority().issue({ name: "web" });

interface Form {
  readonly file: string;
  readonly text: string;
  /** The arguments of `get` that print the resource. */
  readonly ask: readonly string[];
  /** A part of the YAML that shows that the resource is written in this form. */
  readonly shows: string;
}

/** Every form of the protocol, as a file and as arguments of `get`. */
const forms: Readonly<Record<string, Form>> = {
  "a plain resource": {
    file: "a/clusters/web.yaml",
    text: "connect_timeout: 1s",
    ask: [at("web")],
    shows: "\nname: xdstp://a/",
  },
  "an opaque name with aliases": {
    file: "_opaque/virtual-hosts/shop.yaml",
    text: "name: edge/shop\naliases: [edge/www]\nresource: {name: edge/shop, domains: [shop]}",
    ask: ["edge/shop", "--type", "virtual-hosts"],
    shows: "\naliases:\n  - edge/www\n",
  },
  "context parameters": {
    file: "a/clusters/prod.yaml",
    text: `name: ${at("env")}?env=prod&zone=1\nresource: {}`,
    ask: [`${at("env")}?zone=1&env=prod`],
    shows: `\nname: ${at("env")}?env=prod&zone=1\nresource:\n`,
  },
  "an attribute of the look-up": {
    file: "a/clusters/host.yaml",
    text: `name: ${at("host")}?xds.resource.host=foo.com\nresource: {}`,
    ask: [at("host"), "--attribute", "host=foo.com"],
    shows: `\nname: ${at("host")}?xds.resource.host=foo.com\n`,
  },
  "a TTL": {
    file: "a/clusters/ttl.yaml",
    text: "ttl: 60.5s\nresource: {}",
    ask: [at("ttl")],
    shows: "\nttl: 60.500s\n",
  },
  do_not_cache: {
    file: "a/clusters/private.yaml",
    text: "cache_control: {do_not_cache: true}\nresource: {}",
    ask: [at("private")],
    shows: "\n  do_not_cache: true\n",
  },
  metadata: {
    file: "a/clusters/meta.yaml",
    text: "metadata: {filter_metadata: {owner: {team: shop, on: true, n: 1.5}}}\nresource: {}",
    ask: [at("meta")],
    shows: "team: shop",
  },
  "a version label": {
    file: "a/clusters/label.yaml",
    text: 'version: "42"\nresource: {}',
    ask: [at("label")],
    shows: "\nversion: '42'\n",
  },
  "a variant": {
    file: "a/clusters/variant.yaml",
    text: `resource_name: {name: "${at("variant")}", dynamic_parameter_constraints: {constraint: {key: env, value: prod}}}\nresource: {connect_timeout: 2s}`,
    ask: [at("variant"), "--parameter", "env=prod"],
    shows: "dynamic_parameter_constraints:",
  },
  "another variant": {
    file: "a/clusters/variant-not.yaml",
    text: `resource_name: {name: "${at("variant")}", dynamic_parameter_constraints: {not_constraints: {constraint: {key: env, value: prod}}}}\nresource: {connect_timeout: 3s}`,
    ask: [at("variant"), "--parameter", "env=test"],
    shows: "not_constraints:",
  },
  "a redirect": {
    file: "a/clusters/old.yaml",
    text: `${at("web")}#alt=xdstp://b/${cluster}/web`,
    ask: [at("old"), "--no-follow"],
    shows: "'@type': type.googleapis.com/xds.core.v3.ResourceLocator",
  },
  "a redirect with a TTL": {
    file: "a/clusters/ns/old.yaml",
    text: `ttl: 5s\nresource: ${at("web")}?x=1`,
    ask: [at("ns/old"), "--no-follow"],
    shows: "\nttl: 5s\nresource:\n  '@type': type.googleapis.com/xds.core.v3.ResourceLocator",
  },
  "a redirect of a list": {
    file: `a/${cluster}Collection/old.yaml`,
    text: list(cluster),
    ask: [`xdstp://a/${cluster}Collection/old`, "--type", `${cluster}Collection`, "--no-follow"],
    shows: "xds.core.v3.ResourceLocator",
  },
  "a list": {
    file: `a/${cluster}Collection/all.yaml`,
    text: `entries:
- locator: ${at("web")}
- locator: xdstp://b/${cluster}Collection/x#entry=y
- inline_entry: {name: in, version: "1", resource: {name: in, connect_timeout: 1s}}
- inline_entry: {resource: {connect_timeout: 2s}}`,
    ask: [list(cluster), "--type", `${cluster}Collection`],
    shows: "\nentries:\n  - locator:\n",
  },
  "a list of a type of one's own": {
    file: "a/acme.v1.FlagCollection/all.yaml",
    text: "entries: [{locator: xdstp://a/acme.v1.Flag/dark}, {inline_entry: {name: in, resource: {on: true}}}]",
    ask: [list("acme.v1.Flag"), "--type", "acme.v1.FlagCollection"],
    shows: "'@type': type.googleapis.com/acme.v1.FlagCollection",
  },
  "a type of one's own": {
    file: "a/acme.v1.Flag/dark.yaml",
    text: "on: true",
    ask: ["xdstp://a/acme.v1.Flag/dark"],
    shows: "\n'on': true\n",
  },
  "a secret from PEM files": {
    file: "_opaque/secrets/web.yaml",
    text: "tls_certificate: {certificate_chain: {filename: web/c.pem}, private_key: {filename: web/k.pem}}",
    ask: ["web", "--type", "secrets", "--show-secrets"],
    shows: "inline_string:",
  },
};

const more = { "_opaque/secrets/web/c.pem": pair.cert, "_opaque/secrets/web/k.pem": pair.key };

async function useServe(files: Readonly<Record<string, string>>) {
  const { dir } = useFolder({ ...files, ".flags.json": JSON.stringify(flagSet) });
  const flags = ["--descriptors", join(dir, ".flags.json")];
  const serve = useCli(["serve", dir, "--listen", "0", ...flags]);
  await serve.stdout.line(/loaded/);
  const server = `127.0.0.1:${await serve.port()}`;
  const get = async (...args: readonly string[]) =>
    runToEnd(["get", ...args, ...flags, "--server", server, "--timeout", "5"]);
  const registry = registryWith(Buffer.from(JSON.stringify(flagSet)));
  const resources = async () =>
    (await readFolder({ dir, registry })).resources.map(({ file, ...put }) => ({
      ...put,
      file: file.slice(dir.length),
    }));
  return { get, resources };
}

describe("what xdstp get prints", () => {
  it(
    "is a file that is served as it was, for every form of the protocol",
    { timeout: 60_000 },
    async () => {
      const first = await useServe({
        ...more,
        ...Object.fromEntries(Object.values(forms).map(({ file, text }) => [file, text])),
      });
      const printed: Record<string, string> = {};
      for (const [form, { file, ask, shows }] of Object.entries(forms)) {
        const { code, out, err } = await first.get(...ask);
        expect([form, code, err]).toEqual([form, 0, ""]);
        expect(out, form).toContain(shows);
        printed[file] = out;
      }
      const second = await useServe(printed);
      expect(await second.resources()).toEqual(await first.resources());
      for (const { ask } of Object.values(forms)) {
        const answers = await Promise.all(
          [first, second].map(async ({ get }) => get(...ask, "--json")),
        );
        const [before, after] = answers.map(({ out }) => {
          const { version, bytes, resource, wrapper } = JSON.parse(out) as Record<string, unknown>;
          return { version, bytes, resource, wrapper };
        });
        expect(after).toEqual(before);
      }
    },
  );

  it("is not there for --no-follow with directives", async () => {
    const name = `${at("web")}#alt=${at("other")}`;
    const { code, err } = await runToEnd(["get", name, "--no-follow", "--server", "127.0.0.1:1"]);
    expect(code).toBe(2);
    expect(err).toContain("leave the directives out");
  });

  it("says of an alias that it is one", async () => {
    const { file, text } = forms["an opaque name with aliases"] ?? { file: "", text: "" };
    const { get } = await useServe({ [file]: text });
    const { out } = await get("edge/www", "--type", "virtual-hosts");
    expect(out).toContain("# note: this is an alias; ");
  });

  it("is one stream of documents for a glob, each of which says its name", async () => {
    const files = {
      "a/acme.v1.Flag/x.yaml": "on: true",
      "a/acme.v1.Flag/y.yaml": "ttl: 5s\nresource: {}",
      "a/acme.v1.Flag/z.yaml": "xdstp://a/acme.v1.Flag/x",
    };
    const first = await useServe(files);
    const { code, out, err } = await first.get(
      "xdstp://a/acme.v1.Flag/*",
      "--output",
      "yaml",
      "--no-follow",
    );
    expect([code, err]).toEqual([0, ""]);
    const second = await useServe({ "a/acme.v1.Flag/all.yaml": out });
    const named = async ({ resources }: typeof first) =>
      (await resources()).map(({ resource }) => resource);
    expect(await named(second)).toEqual(await named(first));
  });
});

describe("--attribute and --parameter", () => {
  const wrong: readonly (readonly [args: readonly string[], text: string])[] = [
    [["--attribute", "host"], '--attribute "host": give KEY=VALUE, such as host=example.com'],
    [["--parameter", "=x"], '--parameter "=x": give KEY=VALUE, such as host=example.com'],
    [
      ["--attribute", "host=a", "--attribute", "xds.resource.host=b"],
      '--attribute "xds.resource.host=b": the key "host" is given twice; give it once',
    ],
  ];
  it("says how to give an attribute that a name has by itself [N-60]", async () => {
    const name = `${at("web")}?xds.resource.host=foo.com`;
    for (const command of ["get", "watch"]) {
      const { code, err } = await runToEnd([command, name, "--server", "127.0.0.1:1"]);
      expect(code).toBe(2);
      expect(err).toContain("leave it out and give --attribute host=foo.com");
    }
  });

  for (const [args, text] of wrong)
    it(`rejects ${args.join(" ")}`, async () => {
      const { code, err } = await runToEnd(["get", at("web"), ...args, "--server", "127.0.0.1:1"]);
      expect(code).toBe(2);
      expect(err).toContain(text);
    });

  it("show what a client with these would watch", async () => {
    const { dir } = useFolder({
      "a/clusters/v.yaml": forms["a variant"]?.text ?? "",
      "a/clusters/h.yaml": forms["an attribute of the look-up"]?.text ?? "",
    });
    const serve = useCli(["serve", dir, "--listen", "0"]);
    await serve.stdout.line(/loaded/);
    const server = `127.0.0.1:${await serve.port()}`;
    const variant = await runToEnd([
      "watch",
      at("variant"),
      "--parameter",
      "env=prod",
      "--server",
      server,
      "--count",
      "1",
    ]);
    expect(variant.out).toContain("connect_timeout: 2s");
    const host = await runToEnd([
      "watch",
      at("host"),
      "--attribute",
      "host=foo.com",
      "--server",
      server,
      "--count",
      "1",
    ]);
    expect(host.out).toContain("xds.resource.host=foo.com");
  });
});
