import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const cluster = `type: EDS
connect_timeout: 0s
eds_cluster_config: { eds_config: { ads: {}, resource_api_version: V3 } }
`;

/** The fields of a SARIF log that the tests read. */
interface SarifLog {
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly rules: readonly {
          readonly id: string;
          readonly helpUri: string;
          readonly shortDescription: { readonly text: string };
          readonly defaultConfiguration: { readonly level: string };
        }[];
      };
    };
    readonly results: readonly { readonly ruleId: string; readonly ruleIndex: number }[];
  }[];
}

function placed(
  uri: string,
  region?: { readonly startLine: number; readonly startColumn: number },
) {
  return { physicalLocation: { artifactLocation: { uri }, ...(region && { region }) } };
}

async function validated(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { dir } = useFolder(files);
  const { code, out, err } = await runToEnd(["validate", "config", ...args], { cwd: dir });
  return { code, err, out: out.replaceAll(`${dir}/`, "") };
}

describe("xdstp validate", () => {
  it("shows each error and warning with its place, in their order, and counts them", async () => {
    const { code, out, err } = await validated({
      "config/_opaque/clusters/web.yaml": cluster,
      "config/_opaque/routes/r.yaml": "virtual_host: []\n",
    });
    expect(err).toBe("");
    expect(out).toBe(
      `config/_opaque/clusters/web.yaml: warning: refers to endpoints "web", which is not in the folder (add it, unless clients have it from elsewhere) [dangling-reference]
config/_opaque/clusters/web.yaml:2:1: error: connect_timeout must be more than 0s [constraint duration.gt]
config/_opaque/routes/r.yaml:1:1: error: envoy.config.route.v3.RouteConfiguration: key "virtual_host" is unknown (did you mean virtual_hosts?) [unknown-field]
1 resource in 2 files: 2 errors, 1 warning
`,
    );
    expect(code).toBe(1);
  });

  it("exits with 0 for warnings, unless --fail-on says otherwise", async () => {
    const files = { "config/_opaque/endpoints/web.yaml": "{}" };
    const { code, out } = await validated(files);
    expect(out).toContain('warning: nothing refers to endpoints "web"');
    expect(out).toContain("1 resource in 1 file: 0 errors, 1 warning\n");
    expect(code).toBe(0);
    expect((await validated(files, "--fail-on", "warning")).code).toBe(1);
  });

  it("says that a good folder has no problem", async () => {
    expect(await validated({ "config/a/clusters/web.yaml": "{}" })).toEqual({
      code: 0,
      err: "",
      out: "1 resource in 1 file: 0 errors, 0 warnings\n",
    });
  });

  it("gives one JSON object with --json", async () => {
    const { code, out } = await validated(
      { "config/_opaque/clusters/web.yaml": cluster },
      "--json",
    );
    expect(JSON.parse(out)).toMatchObject({
      files: 1,
      resources: 1,
      problems: [
        { severity: "warning", message: expect.stringContaining('endpoints "web"') as unknown },
        { severity: "error", line: 2, column: 1, code: "constraint", rule: "duration.gt" },
      ],
    });
    expect(code).toBe(1);
  });

  it("shows the page of a code with --explain", async () => {
    const { code, out } = await runToEnd(["validate", "--explain", "unknown-field"]);
    expect(out).toMatch(/^# unknown-field\n[^]*\$ xdstp validate config\n/);
    expect(code).toBe(0);
  });

  it.each([
    ["unknown-feild", 'the code "unknown-feild" does not exist; did you mean unknown-field?'],
    ["../README", 'the code "../README" does not exist; the codes are unreadable-file '],
  ])("rejects the code %s, which does not exist", async (unknown, text) => {
    const { code, err } = await runToEnd(["validate", "--explain", unknown]);
    expect(err).toContain(text);
    expect(code).toBe(2);
  });

  it("checks several paths: folders, bootstraps and files of resources", async () => {
    const { dir } = useFolder({
      "config/a/clusters/web.yaml": "{}",
      "envoy.yaml": "node: { id: a }\n",
      "web.json": '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","nam":"web"}',
    });
    const paths = ["envoy.yaml", "config", "web.json", "web.json"];
    const { code, out } = await runToEnd(["validate", ...paths], { cwd: dir });
    expect(out.replaceAll(`${dir}/`, "")).toBe(
      `web.json:1:64: error: envoy.config.cluster.v3.Cluster: key "nam" is unknown (did you mean name?) [unknown-field]
1 resource in 2 files, 1 bootstrap: 1 error, 0 warnings
`,
    );
    expect(code).toBe(1);
    const { out: json } = await runToEnd(["validate", ...paths, "--json"], { cwd: dir });
    expect(JSON.parse(json)).toMatchObject({
      paths: ["envoy.yaml", "config", "web.json"].map((path) => join(dir, path)),
      files: 2,
      resources: 1,
      bootstraps: 1,
      problems: [{ code: "unknown-field" }],
    });
  });

  it("writes a SARIF log with relative paths, the codes as rules, and their pages", async () => {
    const { dir } = useFolder({
      "config/_opaque/clusters/größe 1.yaml": cluster,
      "config/_opaque/clusters/x.yaml": "- 1\n",
    });
    const outside = useFolder({ "envoy.yaml": "node: { id: a }\nadminn: {}\n" });
    const { code, out } = await runToEnd(
      ["validate", "--sarif", "config", join(outside.dir, "envoy.yaml")],
      { cwd: dir },
    );
    expect(code).toBe(1);
    const log = JSON.parse(out) as SarifLog;
    expect(log).toMatchObject({ $schema: expect.any(String) as string, version: "2.1.0" });
    const [run] = log.runs;
    expect(log.runs).toHaveLength(1);
    const rules = run?.tool.driver.rules ?? [];
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    for (const { id, helpUri, defaultConfiguration, shortDescription } of rules) {
      expect(new URL(helpUri).pathname).toMatch(new RegExp(`/docs/checks/${id}\\.md$`));
      expect(["error", "warning"]).toContain(defaultConfiguration.level);
      expect(shortDescription.text).toMatch(/\.$/);
    }
    for (const { ruleId, ruleIndex } of run?.results ?? [])
      expect(rules[ruleIndex]?.id).toBe(ruleId);
    const file = "config/_opaque/clusters/gr%C3%B6%C3%9Fe%201.yaml";
    expect(run?.results).toMatchObject(
      [
        {
          ruleId: "unknown-field",
          level: "error",
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: pathToFileURL(join(outside.dir, "envoy.yaml")).href },
              },
            },
          ],
        },
        { ruleId: "dangling-reference", level: "warning", locations: [placed(file)] },
        {
          ruleId: "constraint",
          properties: { rule: "duration.gt" },
          locations: [placed(file, { startLine: 2, startColumn: 1 })],
        },
        {
          ruleId: "not-a-message",
          message: { text: expect.stringContaining("holds a list") as string },
          locations: [placed("config/_opaque/clusters/x.yaml", { startLine: 1, startColumn: 1 })],
        },
      ].toSorted((a, b) =>
        outside.dir < dir
          ? 0
          : Number(a.ruleId === "unknown-field") - Number(b.ruleId === "unknown-field"),
      ),
    );
  });

  it("checks a bootstrap of Envoy where the path is that of a file", async () => {
    const { dir } = useFolder({ "envoy.yaml": "node: { id: a }\nadminn: {}\n" });
    const { code, out } = await runToEnd(["validate", "envoy.yaml"], { cwd: dir });
    expect(out.replaceAll(`${dir}/`, "")).toBe(
      `envoy.yaml:2:1: error: envoy.config.bootstrap.v3.Bootstrap: key "adminn" is unknown (did you mean admin?) [unknown-field]
1 bootstrap: 1 error, 0 warnings
`,
    );
    expect(code).toBe(1);
  });

  it.each([
    [["--json", "--sarif"], "give one of them"],
    [["--fail-on", "x"], "give error or warning"],
    [["--explain", "unknown-field"], "--explain checks no folder or file"],
  ])("says what is wrong with %j", async (args, text) => {
    const { code, err } = await validated({}, ...args);
    expect(err).toContain(text);
    expect(code).toBe(2);
  });
});
