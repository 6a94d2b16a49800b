import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { StopSignal } from "./cli-io.ts";
import { writeFakeEnvoy } from "../test/fake-envoy.ts";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const files = {
  "envoy.yaml": "static_resources: { clusters: [{ name: web, type: STATIC }] }\n",
  "config/_opaque/clusters/web.yaml": "type: STATIC\nalt_stat_name: odd\n",
};

function useEnvoy(verdict: string): { readonly dir: string; readonly program: string } {
  const { dir } = useFolder(files);
  return { dir, program: writeFakeEnvoy(dir, verdict) };
}

const rejectsOdd = `if grep -q odd "$config"; then reject "no 'odd' names"; fi`;

describe("xdstp validate --envoy", () => {
  it("shows what Envoy rejects with file, line and code, and says what it has read", async () => {
    const { dir } = useEnvoy(rejectsOdd);
    const args = ["validate", "envoy.yaml", "config", "--envoy", "./envoy"];
    const { code, out, err } = await runToEnd(args, { cwd: dir });
    expect(err).toBe("");
    expect(out.replaceAll(`${dir}/`, "")).toBe(
      `config/_opaque/clusters/web.yaml:2:1: error: alt_stat_name: Envoy 1.40.0 rejects it: no 'odd' names [rejected-by-envoy]
1 resource in 1 file, 1 bootstrap: 1 error, 0 warnings; Envoy 1.40.0 has read 2
`,
    );
    expect(code).toBe(1);
  });

  it("counts it as a warning with --allow rejected-by-envoy", async () => {
    const { dir } = useEnvoy(rejectsOdd);
    const args = ["validate", "config", "--envoy", "./envoy", "--allow", "rejected-by-envoy"];
    const { code, out } = await runToEnd(args, { cwd: dir });
    expect(out).toContain("1 resource in 1 file: 0 errors, 1 warning; Envoy 1.40.0 has read 1\n");
    expect(code).toBe(0);
  });

  it("has the version and the counts in --json", async () => {
    const { dir } = useEnvoy("");
    const args = ["validate", "config", "--envoy", "./envoy", "--json"];
    const { out } = await runToEnd(args, { cwd: dir });
    expect(JSON.parse(out)).toMatchObject({
      envoy: { version: "1.40.0", asked: 1, notAsked: 0 },
      problems: [],
    });
  });

  it("says that another version may differ from what the other checks know", async () => {
    const { dir, program } = useEnvoy("");
    writeFileSync(program, readFileSync(program, "utf8").replace("1.40.0", "1.31.2"));
    const { code, err } = await runToEnd(["validate", "config", "--envoy", program], { cwd: dir });
    expect(err).toBe(
      "this is Envoy 1.31.2; all other checks know the API of 1.40, so the two may differ in what is new, deprecated or removed\n",
    );
    expect(code).toBe(0);
  });

  it("ends with 1 for a program that is not there, and says so", async () => {
    const { dir } = useEnvoy("");
    const { code, out, err } = await runToEnd(["validate", "config", "--envoy", "./none"], {
      cwd: dir,
    });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: "",
      err: `xdstp validate: --envoy "${dir}/none": does not exist; give the path of an Envoy, or a name that is in PATH\n`,
    });
  });

  it("ends with the exit code of a signal, and shows nothing", async () => {
    const { dir } = useEnvoy(`echo > "$(dirname "$0")/started"; sleep 1000`);
    let stop: ((signal: StopSignal) => void) | undefined;
    const ended = runToEnd(["validate", "config", "--envoy", "./envoy"], {
      cwd: dir,
      onSignal: (listener) => {
        stop = listener;
        return () => undefined;
      },
    });
    await vi.waitUntil(() => existsSync(join(dir, "started")), 10_000);
    stop?.("SIGINT");
    expect(await ended).toMatchObject({ code: 130, out: "" });
  });
});
