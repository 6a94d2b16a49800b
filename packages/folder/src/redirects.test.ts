import {
  create,
  type DescMessage,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyPack, AnySchema } from "@bufbuild/protobuf/wkt";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { describe, expect, it } from "vitest";
import { folderContext } from "./folder-context.ts";
import { formatProblem } from "./folder-problem.ts";
import { type FileContent, readFile } from "./read-file.ts";

const context = folderContext({ dir: "config", registry: envoyRegistry() });
const clusterType = "envoy.config.cluster.v3.Cluster";
const clusterUrl = `type.googleapis.com/${clusterType}`;
const redirectUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";
const target = `xdstp://edge/${clusterType}/web`;
const fields = { authority: "edge", resource_type: clusterType, id: "web" };
const message = create(ResourceLocatorSchema, {
  authority: "edge",
  resourceType: clusterType,
  id: "web",
});

const read = (path: string, content: string | Uint8Array): FileContent =>
  readFile(
    path.split("/"),
    typeof content === "string" ? new TextEncoder().encode(content) : content,
    context,
  );

const good = (path: string, content: string | Uint8Array) => {
  const { puts, problems } = read(path, content);
  expect(problems).toEqual([]);
  return puts.map(({ typeUrl, resource: { payload, name, ttlMs } }) => ({
    typeUrl,
    name,
    ttlMs,
    payloadUrl: payload.typeUrl,
    locator: fromBinary(ResourceLocatorSchema, payload.value),
  }));
};

const bad = (path: string, content: string | Uint8Array): string => {
  const { puts, problems } = read(path, content);
  expect(puts).toEqual([]);
  return problems.map(formatProblem).join("\n");
};

const any = <D extends DescMessage>(schema: D, content: MessageShape<D>): Uint8Array =>
  toBinary(AnySchema, anyPack(schema, content));

const forms: readonly (readonly [form: string, path: string, content: string | Uint8Array])[] = [
  ["a text in YAML", "edge/clusters/old.yaml", `# moved\n${target}\n`],
  ["a text in JSON", "edge/clusters/old.json", JSON.stringify(target)],
  ["a text in text format", "edge/clusters/old.txtpb", `# moved\n${target}\n`],
  [
    "a message in YAML",
    "edge/clusters/old.yaml",
    JSON.stringify({ "@type": redirectUrl, ...fields }),
  ],
  [
    "a message in JSON",
    "edge/clusters/old.json",
    JSON.stringify({ "@type": redirectUrl, ...fields }),
  ],
  [
    "a message in text format",
    "edge/clusters/old.txtpb",
    `# proto-message: xds.core.v3.ResourceLocator\nauthority: "edge" resource_type: "${clusterType}" id: "web"`,
  ],
  [
    "an Any in text format",
    "edge/clusters/old.txtpb",
    `[${redirectUrl}] { authority: "edge" resource_type: "${clusterType}" id: "web" }`,
  ],
  ["an Any in binary", "edge/clusters/old.pb", any(ResourceLocatorSchema, message)],
  ["the text in a wrapper", "edge/clusters/old.yaml", `resource: ${target}`],
  [
    "the message in a wrapper",
    "edge/clusters/old.json",
    JSON.stringify({ resource: { "@type": redirectUrl, ...fields } }),
  ],
  [
    "the message in a binary wrapper",
    "edge/clusters/old.pb",
    any(
      ResourceSchema,
      create(ResourceSchema, { resource: anyPack(ResourceLocatorSchema, message) }),
    ),
  ],
];

describe("readFile() of a redirect", () => {
  for (const [form, path, content] of forms)
    it(`takes ${form}; each has the same bytes [C-REDIR-1] [N-82]`, () => {
      expect(good(path, content)).toEqual([
        {
          typeUrl: clusterUrl,
          name: `xdstp://edge/${clusterType}/old`,
          payloadUrl: redirectUrl,
          locator: message,
        },
      ]);
    });

  it("takes an opaque name, a list, and what the wrapper says of it [C-REDIR-6]", () => {
    expect(good("_opaque/clusters/old.yaml", target)).toMatchObject([{ name: "old" }]);
    expect(
      good(
        `edge/${clusterType}Collection/old.yaml`,
        `ttl: 5s\nresource: xdstp://b/${clusterType}Collection/all`,
      ),
    ).toMatchObject([{ name: `xdstp://edge/${clusterType}Collection/old`, ttlMs: 5_000 }]);
  });

  it("takes an alternative and an entry, as a text too [C-REDIR-5]", () => {
    const list = `xdstp://b/${clusterType}Collection/all`;
    const [text] = good("edge/clusters/old.yaml", `${target}#alt=${list}%23entry=web`);
    const json = {
      "@type": redirectUrl,
      ...fields,
      directives: [{ alt: `${list}#entry=web` }],
    };
    const [parts] = good("edge/clusters/old.yaml", JSON.stringify(json));
    expect(text?.locator.directives).toHaveLength(1);
    expect(parts).toEqual(text);
  });

  it("writes context parameters in the order of their keys, whoever wrote them in which order [S-VER-4]", () => {
    const bytes = (text: string) =>
      read("edge/clusters/old.yaml", text).puts.map(({ resource }) =>
        Buffer.from(resource.payload.value).toString("hex"),
      );
    expect(bytes(`${target}?b=2&a=1`)).toEqual(bytes(`${target}?a=1&b=2`));
  });

  it("shows where it leads to another type, and the way out [C-REDIR-5]", () => {
    expect(
      bad(
        "edge/clusters/old.yaml",
        "ttl: 1s\nresource: xdstp://edge/envoy.config.listener.v3.Listener/x",
      ),
    ).toBe(
      `config/edge/clusters/old.yaml:2:1: xdstp://edge/envoy.config.listener.v3.Listener/x has the type envoy.config.listener.v3.Listener; it has to be ${clusterType} [C-REDIR-5]`,
    );
  });

  it("rejects a glob as a target [C-REDIR-6]", () => {
    expect(bad("edge/clusters/old.yaml", `xdstp://edge/${clusterType}/*`)).toBe(
      "config/edge/clusters/old.yaml:1:1: a glob has many resources, and a locator leads to one; name one of them [C-REDIR-6]",
    );
  });

  it("rejects a redirect to itself [C-REDIR-4]", () => {
    expect(bad("edge/clusters/web.yaml", target)).toBe(
      `config/edge/clusters/web.yaml:1:1: the redirect "${target}" leads to itself (write another name, or the resource) [C-REDIR-4]`,
    );
  });

  it("shows what is wrong with a text, and with a field of a message", () => {
    expect(bad("edge/clusters/old.yaml", "resource: xdstp:/edge")).toMatch(
      /^config\/edge\/clusters\/old\.yaml:1:1: "xdstp:\/edge" is not a locator: .*\[N-\d+\]$/,
    );
    expect(bad("edge/clusters/old.json", `{\n"@type": "${redirectUrl}",\n"autority": "x"}`)).toBe(
      'config/edge/clusters/old.json:3:1: xds.core.v3.ResourceLocator: key "autority" is unknown (did you mean authority?)',
    );
  });

  it("rejects a redirect in binary to another type [C-REDIR-5]", () => {
    const other = create(ResourceLocatorSchema, { authority: "a", resourceType: "t.X", id: "x" });
    expect(bad("edge/clusters/old.pb", any(ResourceLocatorSchema, other))).toBe(
      `config/edge/clusters/old.pb: xdstp://a/t.X/x has the type t.X; it has to be ${clusterType} [C-REDIR-5]`,
    );
  });
});
