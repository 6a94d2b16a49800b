import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askEnvoy, checkBootstrap } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createSeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";
import { readConfigurations, useConfigurations } from "../src/configurations.ts";
import { describeProgram } from "../src/describe-program.ts";
import { envoyVerdict } from "../src/envoy-verdict.ts";
import { makeMistakes } from "../src/make-mistakes.ts";
import { useFolder } from "../src/use-folder.ts";

const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

describeProgram("envoy", "asked by validate --envoy", (command) => {
  const registry = envoyRegistry();

  it("rejects none of the configurations without mistakes", async () => {
    const dir = useConfigurations();
    const paths = readConfigurations().map(({ name }) => join(dir, name));
    const answer = await askEnvoy({ command, paths, registry, cwd: dir });
    expect(answer).toMatchObject({ asked: paths.length, notAsked: 0, problems: [] });
  }, 120_000);

  it("finds every mistake that the other checks do not find", async () => {
    const dir = useConfigurations();
    const mistakes = makeMistakes(readConfigurations(), createSeededRandom(seed), 4);
    const missed: string[] = [];
    let asked = 0;
    let onLine = 0;
    for (const [index, { kind, from, text, lines }] of mistakes.entries()) {
      const file = join(dir, `mistake-${index}.yaml`);
      writeFileSync(file, text);
      const { problems: known } = await checkBootstrap({ file, registry });
      if (known.length > 0 || (await envoyVerdict(command, file, dir)) === undefined) continue;
      asked++;
      const answer = await askEnvoy({ command, paths: [file], registry, cwd: dir });
      const [found] = "unusable" in answer ? [] : answer.problems;
      if (found === undefined) missed.push(`${kind} (${from})`);
      if (found?.line !== undefined && lines.has(found.line)) onLine++;
    }
    console.log(
      `seed ${seed}: ${asked} mistakes that only Envoy finds, ${onLine} on the right line`,
    );
    expect(missed).toEqual([]);
    expect(asked).toBeGreaterThan(0);
    expect(onLine / asked).toBeGreaterThanOrEqual(0.5);
  }, 300_000);

  it("says of the example of its page what the page shows", async () => {
    const page = readFileSync(
      join(import.meta.dirname, "../../../docs/checks/rejected-by-envoy.md"),
      "utf8",
    );
    const [wrong = "", right = ""] = Array.from(
      page.matchAll(/^```yaml\n(.*?)^```$/gms),
      ([, yaml = ""]) => yaml,
    );
    const dir = useFolder();
    const file = join(dir, "envoy.yaml");
    writeFileSync(file, wrong);
    const answer = await askEnvoy({ command, paths: [file], registry, cwd: dir });
    const shown = ("unusable" in answer ? [] : answer.problems).map(
      ({ line, column, message }) =>
        `envoy.yaml:${String(line)}:${String(column)}: error: ${message} [rejected-by-envoy]`,
    );
    expect(shown).toHaveLength(1);
    expect(page).toContain(shown[0]);
    writeFileSync(file, right);
    expect(await askEnvoy({ command, paths: [file], registry, cwd: dir })).toMatchObject({
      problems: [],
    });
  });

  it("reads resources of each type by themselves, and finds a script that does not parse", async () => {
    const dir = useFolder();
    const files: Readonly<Record<string, string>> = {
      "clusters/eds.yaml":
        "type: EDS\nlb_policy: MAGLEV\neds_cluster_config: { eds_config: { ads: {} } }\n",
      "endpoints/eds.yaml":
        "endpoints:\n- lb_endpoints:\n  - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 80 } } }\n",
      "listeners/in.yaml": `address: { socket_address: { address: 0.0.0.0, port_value: 80 } }
filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: in
      rds: { route_config_name: web, config_source: { ads: {} } }
      http_filters: [{ name: router, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router } }]
`,
      "routes/web.yaml":
        "virtual_hosts: [{ name: a, domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: eds } }] }]\n",
      "secrets/token.yaml": "generic_secret: { secret: { inline_string: abcdef } }\n",
      "runtimes/flags.yaml": "layer: { a: 1 }\n",
      "extensions/script.yaml": `typed_config:
  "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
  default_source_code:
    inline_string: "if"
`,
      "virtual-hosts/web%2Fa.yaml":
        "domains: ['a']\nroutes: [{ match: { prefix: / }, route: { cluster: elsewhere } }]\n",
    };
    for (const [path, text] of Object.entries(files)) {
      const file = join(dir, "_opaque", path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
    }
    const answer = await askEnvoy({ command, paths: [dir], registry, cwd: dir });
    expect(answer).toMatchObject({
      asked: Object.keys(files).length,
      notAsked: 0,
      problems: [{ file: join(dir, "_opaque/extensions/script.yaml"), line: 4, column: 5 }],
    });
  });
});
