import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { createEditor } from "../test/create-editor.ts";
import { envoyComments } from "./envoy-comments.ts";
import { bootstrapSchema, messageSchema } from "./index.ts";

const schema = bootstrapSchema(envoyRegistry());
const editor = createEditor(schema);

const config = `static_resources:
  listeners:
  - name: web
    address: { socket_address: { address: 0.0.0.0, port_value: 80 } }
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: web
          codec_type: AUTO
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: { prefix: / }
                route: { cluster: web }
          http_filters:
          - name: router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: web
    connectTimeout: 1s
    loadAssignment: { clusterName: web, endpoints: [] }
`;

describe("bootstrapSchema()", () => {
  it("finds nothing in a good configuration", async () => {
    expect(await editor.problemsIn(config)).toEqual([]);
  });

  it.each([
    ["port_value: 80", "port_value: 70000", "4: Value is above the maximum of 65535"],
    ["port_value: 80", "port_value: http", "4: String does not match the pattern"],
    ["address: 0.0.0.0,", 'address: "",', "4: String is shorter than the minimum length of 1"],
    ["stat_prefix: web\n", "\n", '8: Missing property "stat_prefix"'],
    ["stat_prefix: web", "stat_prefix: 5", "10: Incorrect type. Expected one of string, null"],
    ["stat_prefix", "stat_prefixes", "10: Property stat_prefixes is not allowed"],
    ["codec_type: AUTO", "codec_type: HTTP", '11: Value is not accepted. Valid values: "AUTO"'],
    ['domains: ["*"]', "domains: []", "15: Array has too few items"],
    ["{ cluster: web }", "{ cluster: web, clusterHeader: a }", "18: Matches multiple schemas"],
    ["match: { prefix: / }", "match: {}", "17: "],
    ["http.router.v3.Router", "http.router.v3.Ruoter", "22: Value is not accepted"],
    [
      "connectTimeout: 1s",
      "type: EDS\n    clusterType: { name: a }",
      "24: Matches multiple schemas",
    ],
    ["connectTimeout: 1s", "connectTimeout: 1", "25: Incorrect type"],
    ["connectTimeout: 1s", "connectTimeout: 0s", "25: String does not match the pattern"],
  ])("shows the line of what is wrong: %s as %s", async (good, bad, problem) => {
    const found = await editor.problemsIn(config.replace(good, bad));
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${escaped(problem)}`)));
  });

  it.each([
    ["names of fields in either case", "connectTimeout: 1s", "connect_timeout: 1s"],
    ["a Duration as an object", "connectTimeout: 1s", "connectTimeout: { seconds: 1 }"],
    ["names of enums in small letters", "codec_type: AUTO", "codec_type: auto"],
    ["numbers of enums", "codec_type: AUTO", "codec_type: 1"],
    ["numbers as texts", "port_value: 80", 'port_value: "80"'],
    ["one value instead of a list of one", 'domains: ["*"]', 'domains: "*"'],
    ["null for what is not set", "codec_type: AUTO", "codec_type:"],
    [
      "wrappers as objects",
      "stat_prefix: web",
      "stat_prefix: web\n          generate_request_id: { value: yes }",
    ],
    [
      "types of extensions of your own",
      "envoy.extensions.filters.http.router.v3.Router",
      "acme.Filter\n              limit: 1",
    ],
  ])("accepts %s", async (_, usual, other) => {
    const text = config.replace(usual, other);
    expect(text).not.toBe(config);
    expect(await editor.problemsIn(text)).toEqual([]);
  });

  it("suggests the fields of the type that an Any says", async () => {
    const found = await editor.suggestionsAt(
      config.replace("stat_prefix: web", "stat_prefix: web\n          ‸"),
    );
    expect(found).toEqual(expect.arrayContaining(["rds", "access_log", "tracing"]));
    expect(found).not.toContain("accessLog");
    expect(found).not.toContain("domains");
  });

  it("suggests the types that belong into an Any", async () => {
    const found = await editor.suggestionsAt(
      config.replace("type.googleapis.com/envoy.extensions.filters.http.router.v3.Router", "‸"),
    );
    expect(found).toContain("type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors");
    expect(found.join(" ")).not.toContain("filters.network");
  });

  it("suggests the values of an enum, without null", async () => {
    const found = await editor.suggestionsAt(config.replace("codec_type: AUTO", "codec_type: ‸"));
    expect(found).toEqual(["AUTO", "HTTP1", "HTTP2", "HTTP3"]);
  });

  it.each([
    { comments: true, bytes: 4_000_000, packed: 800_000 },
    { comments: false, bytes: 1_700_000, packed: 200_000 },
  ])("has the size and takes the time that an editor allows: $comments", (of) => {
    const text = JSON.stringify(bootstrapSchema(envoyRegistry(), { comments: of.comments }));
    expect(text.length).toBeLessThan(of.bytes);
    expect(gzipSync(text).length).toBeLessThan(of.packed);
    const start = performance.now();
    bootstrapSchema(envoyRegistry());
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("defines only what it refers to", () => {
    const text = JSON.stringify(schema);
    const defined = Object.keys(schema.$defs as object);
    const used = new Set(text.match(/(?<="#\/\$defs\/)[^"]+/g));
    expect(defined.filter((name) => !used.has(name))).toEqual([]);
    expect([...used].filter((name) => !defined.includes(name))).toEqual([]);
  });
});

describe("comments on Envoy's API", () => {
  const hoverAt = async (place: string): Promise<string> =>
    editor.hoverAt(config.replace(place, `‸${place}`));

  it.each([
    ["a value", "stat_prefix", "string"],
    ["a well-known type", "connect_timeout", "Duration"],
    ["a message", "load_assignment", "ClusterLoadAssignment"],
    ["an enum", "codec_type", "CodecType"],
    ["a list", "http_filters", "list of HttpFilter"],
    ["a list of values", "domains", "list of string"],
  ])("describe %s under the name of its type", async (_, name, type) => {
    const found = await editor.hoverAt(
      config
        .replace("connectTimeout", "connect_timeout")
        .replace("loadA", "load_a")
        .replace(name, `‸${name}`),
    );
    expect(found).toMatch(new RegExp(`^#### ${type}\\n\\n[A-Z]`));
  });

  it("describe a field by its own comment, also where that of its type is in Markdown", async () => {
    const text = await editor.hoverAt("dynamic_resources:\n  ‸cds_config: { ads: {} }\n");
    expect(text).toMatch(/^#### ConfigSource\n\nAll post-bootstrap/);
  });

  it("describe a field in an Any, in Markdown", async () => {
    const text = await editor.hoverAt(
      config.replace("stat_prefix: web", "stat_prefix: web\n          ‸server_name: a"),
    );
    expect(text).toContain("If not set, the default is `envoy`.");
  });

  it("describe the values of an enum", async () => {
    expect(await hoverAt("codec_type")).toContain(
      "* `HTTP1`: The connection manager will assume that the client is speaking HTTP/1.1.\n",
    );
  });

  it("are shown with what is suggested", async () => {
    const described = await editor.descriptionsAt(
      config.replace("stat_prefix: web", "stat_prefix: web\n          ‸"),
    );
    expect(described.get("server_name")).toMatch(/the default is `envoy`\.$/);
    expect(described.get("rds")).toMatch(/^The connection manager/);
  });

  it("have a summary for editors that do not read Markdown", () => {
    expect(schema).toMatchObject({
      $defs: {
        "envoy.config.cluster.v3.Cluster": {
          properties: {
            load_assignment: {
              description: expect.not.stringMatching(/\n|\*\*/) as string,
              markdownDescription: expect.stringContaining("\n\n**Attention:** ") as string,
            },
          },
        },
      },
    });
  });

  it("are on messages and fields that the registry has, and on most of them", () => {
    const described = [...envoyComments().keys()];
    const registry = envoyRegistry();
    const known = new Set(
      [...registry].flatMap((type) => {
        if (type.kind === "message")
          return [type.typeName, ...type.fields.map(({ name }) => `${type.typeName}.${name}`)];
        if (type.kind !== "enum") return [];
        return [type.typeName, ...type.values.map(({ name }) => `${type.typeName}.${name}`)];
      }),
    );
    expect(described.filter((name) => !known.has(name))).toEqual([]);
    const fields = [...known].filter((name) =>
      /^envoy\.(?:config|extensions)\.[^A-Z]+[A-Z].*\.[a-z]\w*$/.test(name),
    );
    expect(fields.length).toBeGreaterThan(3_000);
    expect(fields.filter((name) => envoyComments().has(name)).length).toBeGreaterThan(
      fields.length * 0.9,
    );
  });

  it("have no marks of reStructuredText", () => {
    const marks = [...envoyComments()].filter(([, text]) => /\[#|:ref:`|^\.\. /m.test(text));
    expect(marks).toEqual([]);
  });

  it("are left out on request", () => {
    const text = JSON.stringify(bootstrapSchema(envoyRegistry(), { comments: false }));
    expect(text).not.toMatch(/"(?:enumD|markdownEnumD|d|markdownD)escriptions?":"/);
  });
});

describe("the configurations that Envoy accepts", () => {
  const dir = new URL("../../real-clients/corpus/", import.meta.url);
  const files = readdirSync(dir).filter((name) => /\.(?:yaml|json)$/.test(name));

  it("are valid", async () => {
    expect(files.length).toBeGreaterThan(50);
    for (const name of files) {
      const found = await editor.problemsIn(readFileSync(new URL(name, dir), "utf8"));
      // The server has a remark of its own on anchors.
      expect([name, found.filter((one) => !one.includes("Unused anchor"))]).toEqual([name, []]);
    }
  }, 60_000);
});

describe("messageSchema()", () => {
  it("rejects a message that the registry does not have", () => {
    expect(() => messageSchema(envoyRegistry(), "acme.Nothing")).toThrow(
      "the registry has no message acme.Nothing",
    );
  });

  it("accepts the JSON of protobuf only", async () => {
    const strict = createEditor(messageSchema(envoyRegistry(), "envoy.config.cluster.v3.Cluster"));
    expect(await strict.problemsIn("name: a\nlb_policy: RANDOM\n")).toEqual([]);
    expect(await strict.problemsIn("name: a\nlb_policy: random\n")).toEqual([
      expect.stringContaining("2: "),
    ]);
  });
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
