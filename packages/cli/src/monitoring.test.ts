import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const at = (file: string): string =>
  fileURLToPath(new URL(`../../../examples/monitoring/${file}`, import.meta.url));
const read = (file: string): string => readFileSync(at(file), "utf8");

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** Returns the metrics that an expression names. Those of a histogram are without their suffix. */
function metricsIn(expr: string): readonly string[] {
  return [...expr.matchAll(/\b(?:xdstp|pilot|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ""),
  );
}

/** Returns the metrics of a command that has just started. */
async function metricsOf(argv: readonly string[], cwd: string): Promise<string> {
  const { stdout } = useCli([...argv, "--listen", "127.0.0.1:0", "--metrics", "0"], { cwd });
  const [, url = ""] = /metrics: (http:\S+)$/.exec(await stdout.line(/listening/)) ?? [];
  return (await fetch(url, { headers: { connection: "close" } })).text();
}

async function scraped(argv: readonly string[], cwd: string): Promise<ReadonlySet<string>> {
  const text = await metricsOf(argv, cwd);
  return new Set([...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name = ""]) => name));
}

/** Returns the text with a series for each metric that has none, since promtool checks only metrics with series. */
function withSeries(text: string): string {
  return text.replaceAll(
    /^# TYPE (\w+) (\w+)\n(?=#|$)/gm,
    (head: string, name: string, type: string) =>
      type === "histogram"
        ? `${head}${name}_bucket{le="+Inf"} 0\n${name}_sum 0\n${name}_count 0\n`
        : `${head}${name} 0\n`,
  );
}

/** Runs promtool. Returns `undefined` if it is not installed, which is a failure in CI. */
function promtool(
  argv: readonly string[],
  input = "",
): { readonly status: number | null; readonly said: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync("promtool", argv, {
    encoding: "utf8",
    input,
  });
  if (error === undefined) return { status, said: `${stdout}${stderr}` };
  if (process.env.CI === "true") throw error;
  console.log(`not checked by promtool: ${error.message}; the apt package "prometheus" has it`);
  return undefined;
}

/** Counters without `_total`. They have the names of Istio's metrics, so that dashboards for these show them. */
const istioNames = ["pilot_xds_pushes", "pilot_total_xds_rejects", "pilot_xds_expired_nonce"];

describe("the metrics of a running command", () => {
  it.each([
    ["serve", ["serve", "."]],
    ["relay", ["relay", "--server", "127.0.0.1:1"]],
  ])("%s: are such that promtool complains of the names of Istio alone", async (_, argv) => {
    const { dir } = useFolder({ "_opaque/clusters/web.yaml": "type: STATIC\n" });
    const text = withSeries(await metricsOf(argv, dir));
    expect(text).not.toMatch(/^# TYPE .*\n(?!\w)/m);
    const { said = "" } = promtool(["check", "metrics"], text) ?? {};
    const complaints = said
      .trim()
      .split("\n")
      .filter(
        (line) =>
          line !== "" &&
          !istioNames.some((name) => line.startsWith(`${name} counter metrics should`)),
      );
    expect(complaints).toEqual([]);
  });
});

describe("examples/monitoring", () => {
  const alerts = (parse(read("alerts.yaml")) as Alerts).groups.flatMap(({ rules }) => rules);
  const { panels } = JSON.parse(read("dashboard.json")) as Dashboard;

  it("names only metrics that serve and relay export", async () => {
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
    const { dir } = useFolder({
      "config/_opaque/clusters/web.yaml": "type: STATIC\n",
      "cert.pem": cert,
      "key.pem": key,
    });
    const tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    const named = [
      ...alerts.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap(metricsIn);
    expect(named.length).toBeGreaterThan(20);
    for (const command of [
      ["serve", "config", ...tls],
      ["relay", "--server", "127.0.0.1:1", ...tls],
    ]) {
      const exported = await scraped(command, dir);
      expect(named.filter((name) => !exported.has(name))).toEqual([]);
    }
  });

  it("has alerts and panels with a name each, and a summary or an expression", () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(alerts.filter(({ annotations: { summary } }) => summary === "")).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ targets }) => targets.length === 0)).toEqual([]);
  });

  it.each([
    ["accepts", ["check", "rules", at("alerts.yaml")]],
    ["finds to fire as they should", ["test", "rules", at("alerts.test.yaml")]],
  ])("has rules that promtool %s, where it is installed; in CI it has to be", (_, argv) => {
    const result = promtool(argv);
    if (result === undefined) return;
    const { status, said } = result;
    expect({ status, said: status === 0 ? "" : said }).toEqual({ status: 0, said: "" });
  });
});
