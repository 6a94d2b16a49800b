import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, vi } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import { formatProblem } from "../folder-problem.ts";
import { askEnvoy, type AskEnvoyOptions } from "./ask-envoy.ts";

const registry = envoyRegistry();

const says = {
  version: `echo; echo "envoy  version: 9e5580933739775e8bce696a57a2e1bc99368f23/1.40.0/Clean/RELEASE/BoringSSL"`,
  ok: `echo "configuration '$4' OK"`,
} as const;

/** Writes a program that answers as Envoy does. `verdict`: lines of a shell script, which can call `reject TEXT`. */
function fakeEnvoy(verdict = ""): string {
  return `#!/bin/sh
dir=$(dirname "$0")
if [ "$1" = --version ]; then ${says.version}; exit; fi
cat "$4" >> "$dir/asked"
reject() { printf "[2026-11-26 23:52:33.896][1][critical][main] [server.cc:76] error initializing configuration '%s': %b\\n" "$4" "$1"; exit 1; }
${verdict}
${says.ok}
`;
}

interface Asked {
  readonly program: string;
  readonly files: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
  readonly options?: Partial<AskEnvoyOptions>;
}

async function ask({ program, files, paths, options }: Asked) {
  const { dir } = await useFolder({ envoy: program, ...files });
  const command = join(dir, "envoy");
  chmodSync(command, 0o755);
  const answer = await askEnvoy({
    command,
    paths: paths.map((path) => join(dir, path)),
    registry,
    cwd: dir,
    ...options,
  });
  const given = (): string =>
    existsSync(join(dir, "asked")) ? readFileSync(join(dir, "asked"), "utf8") : "";
  if ("unusable" in answer) return { ...answer, dir, given, lines: [] };
  const lines = answer.problems.map((one) => formatProblem(one).replaceAll(`${dir}/`, ""));
  return { ...answer, dir, given, lines };
}

const clusters = (...more: readonly string[]): string =>
  `static_resources:\n  clusters:\n${["a", "b", "c", "d", "e"]
    .map((name) => `  - name: ${name}\n    type: STATIC\n`)
    .concat(more)
    .join("")}`;

const lua = `static_resources:
  secrets:
  - name: s
    generic_secret: { secret: { inline_string: correct-horse-battery } }
`;

async function verdict(text: string, reason: string, condition = "true") {
  const { lines } = await ask({
    program: fakeEnvoy(`if ${condition}; then reject '${reason}'; fi`),
    files: { "envoy.yaml": text },
    paths: ["envoy.yaml"],
  });
  return lines;
}

describe("askEnvoy about a bootstrap", () => {
  it("has it read as it is, and finds nothing where Envoy accepts it", async () => {
    const text = `# as it is\n${clusters()}`;
    const { given, ...answer } = await ask({
      program: fakeEnvoy(),
      files: { "envoy.yaml": text },
      paths: ["envoy.yaml"],
    });
    expect(answer).toMatchObject({ version: "1.40.0", asked: 1, notAsked: 0, problems: [] });
    expect(given()).toBe(text);
  });

  it("shows the field that Envoy names, without the rest of what it writes", async () => {
    const reason =
      "Protobuf message (type envoy.config.bootstrap.v3.Bootstrap reason INVALID_ARGUMENT: invalid JSON  in envoy.config.bootstrap.v3.Bootstrap   @  static_resources.clusters[1].type:   enum x,   near  1:42 (offset  41): unknown value) has unknown fields";
    expect(await verdict(clusters(), reason)).toEqual([
      "envoy.yaml:6:5: static_resources.clusters[1].type: Envoy 1.40.0 rejects it: unknown value",
    ]);
  });

  it("shows the field of a constraint, without the message that Envoy prints in front of it", async () => {
    const reason =
      'goo.gle/debugstr  \\nstatic_resources {\\n  clusters {\\n    name: "a"\\n  }\\n}\\n: Proto constraint validation failed (BootstrapValidationError.StaticResources: embedded message failed validation | caused by StaticResourcesValidationError.Clusters[2]: embedded message failed validation | caused by ClusterValidationError.Type: value must be one of them)';
    expect(await verdict(clusters(), reason)).toEqual([
      "envoy.yaml:8:5: static_resources.clusters[2].type: Envoy 1.40.0 rejects it: type: value must be one of them",
    ]);
  });

  it("shows the line of a syntax that only the parser of Envoy rejects", async () => {
    const reason = "yaml-cpp: error at line 4, column 5: illegal map value";
    expect(await verdict(clusters(), reason)).toEqual([
      "envoy.yaml:4:5: Envoy 1.40.0 rejects it: illegal map value",
    ]);
  });

  it("finds the value of which Envoy speaks", async () => {
    const more = "  - name: f\n    alt_stat_name: strange\n";
    expect(await verdict(clusters(more), 'no stat can be called "strange"')).toEqual([
      'envoy.yaml:14:5: static_resources.clusters[5].alt_stat_name: Envoy 1.40.0 rejects it: no stat can be called "strange"',
    ]);
  });

  it("asks about parts where Envoy says no place, until one resource is left", async () => {
    const isThere = `grep -q -i '"name":"d","type":"STATIC","load\\|alt_stat_name' "$4"`;
    const text = clusters().replace("name: d\n", "name: d\n    alt_stat_name: x\n");
    expect(await verdict(text, "it is not good", isThere)).toEqual([
      "envoy.yaml:9:5: static_resources.clusters[3]: Envoy 1.40.0 rejects it: it is not good",
    ]);
  });

  it("shows no secret of the configuration", async () => {
    const [line] = await verdict(lua, "the text correct-horse-battery is not good");
    expect(line).toContain("the text [redacted] is not good");
  });

  it("cuts long reasons", async () => {
    const [line = ""] = await verdict(clusters(), "x".repeat(5_000));
    expect(line.length).toBeLessThan(400);
  });

  it("asks nothing where the other checks find an error", async () => {
    const { given, ...answer } = await ask({
      program: fakeEnvoy(),
      files: { "envoy.yaml": clusters("  - nam: f\n") },
      paths: ["envoy.yaml"],
    });
    expect(answer).toMatchObject({ asked: 0, notAsked: 1, problems: [] });
    expect(given()).toBe("");
  });

  it("lets Envoy make no log: a copy names /dev/null", async () => {
    const text = (path: string): string => `admin: { access_log_path: ${path} }\n`;
    const { given, dir } = await ask({
      program: fakeEnvoy(),
      files: { "envoy.yaml": text("new.log"), "old.yaml": text("old.log"), "old.log": "" },
      paths: ["envoy.yaml", "old.yaml"],
    });
    expect(given()).toContain('{"admin":{"access_log_path":"/dev/null"}}');
    expect(given()).toContain(text("old.log"));
    expect(given()).not.toContain("new.log");
    expect(existsSync(join(dir, "new.log"))).toBe(false);
  });

  it.each([
    ["a signal", "kill -SEGV $$", "Envoy 1.40.0 ends with SIGSEGV when it reads this"],
    [
      "another exit code",
      "exit 3",
      "Envoy 1.40.0 ends with exit code 3 and without a reason when it reads this",
    ],
  ])("says so where Envoy ends with %s", async (_, script, message) => {
    const { lines } = await ask({
      program: fakeEnvoy(script),
      files: { "envoy.yaml": clusters() },
      paths: ["envoy.yaml"],
    });
    expect(lines).toEqual([`envoy.yaml: ${message}`]);
  });

  it("ends an Envoy that does not answer, and what it has started", async () => {
    const clock = createFakeClock();
    const { dir } = await useFolder({
      envoy: fakeEnvoy(`sleep 1000 & echo $! > "$dir/child"; wait`),
      "envoy.yaml": clusters(),
    });
    chmodSync(join(dir, "envoy"), 0o755);
    const answer = askEnvoy({
      command: join(dir, "envoy"),
      paths: [join(dir, "envoy.yaml")],
      registry,
      clock,
      timeoutMs: 5_000,
    });
    const child = await vi.waitUntil(() => childIn(dir), 10_000);
    clock.advance(5_000);
    expect(await answer).toMatchObject({
      problems: [{ message: "Envoy 1.40.0 does not answer within 5 s when it reads this" }],
    });
    await vi.waitUntil(() => !isAlive(child), 10_000);
  });

  it("ends what runs, and removes its directory, where the caller aborts", async () => {
    const stop = new AbortController();
    const { dir } = await useFolder({
      envoy: fakeEnvoy(`echo "$4" > "$dir/config"; sleep 1000 & echo $! > "$dir/child"; wait`),
      "clusters.yaml": `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: a\n`,
    });
    chmodSync(join(dir, "envoy"), 0o755);
    const answer = askEnvoy({
      command: join(dir, "envoy"),
      paths: [join(dir, "clusters.yaml")],
      registry,
      signal: stop.signal,
    });
    const child = await vi.waitUntil(() => childIn(dir), 10_000);
    const config = readFileSync(join(dir, "config"), "utf8").trim();
    expect(existsSync(config)).toBe(true);
    stop.abort();
    await expect(answer).rejects.toBe(stop.signal.reason);
    expect(existsSync(dirname(config))).toBe(false);
    await vi.waitUntil(() => !isAlive(child), 10_000);
  });
});

function childIn(dir: string): number {
  const file = join(dir, "child");
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
}

function isAlive(pid: number): boolean {
  try {
    // A process that has ended and was not waited for (a zombie) still has its number.
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

describe("askEnvoy with a program that is not an Envoy", () => {
  const files = { "envoy.yaml": clusters() };
  const paths = ["envoy.yaml"];

  it.each([
    [
      "says something else",
      "#!/bin/sh\necho hello\n",
      "is not an Envoy: it does not say its version as Envoy does; give the program of an Envoy",
    ],
    [
      "ends by a signal",
      "#!/bin/sh\nkill -ILL $$\n",
      "ends with SIGILL instead of saying its version; give an Envoy that runs on this machine",
    ],
  ])("says what is wrong where it %s", async (_, program, unusable) => {
    expect(await ask({ program, files, paths })).toMatchObject({ unusable });
  });

  it("says that it does not exist", async () => {
    const command = "/nowhere/envoy";
    expect(await ask({ program: "", files, paths, options: { command } })).toMatchObject({
      unusable: "does not exist; give the path of an Envoy, or a name that is in PATH",
    });
  });

  it("says that it may not be run", async () => {
    const { dir } = await useFolder({ envoy: "text" });
    const command = join(dir, "envoy");
    writeFileSync(command, "text", { mode: 0o600 });
    expect(await askEnvoy({ command, paths: [dir], registry })).toEqual({
      unusable: "may not be run by this user; give it the right to, or give another one",
    });
  });
});

describe("askEnvoy about resources", () => {
  const files = {
    "config/_opaque/clusters/web.yaml": "type: STATIC\nalt_stat_name: bad\n",
    "config/_opaque/clusters/good.yaml": "type: STATIC\n",
    "config/_opaque/routes/r.yaml":
      "virtual_hosts:\n- name: all\n  domains: ['*']\n  routes:\n  - match: { prefix: / }\n    route: { cluster: elsewhere }\n",
    "config/_opaque/endpoints/web.yaml": "{}\n",
  };

  it("asks about all together, and shows the line of one that Envoy rejects", async () => {
    const { lines, given, ...answer } = await ask({
      program: fakeEnvoy(`if grep -q alt_stat_name "$4"; then reject 'the name "bad" is bad'; fi`),
      files,
      paths: ["config"],
    });
    expect(lines).toEqual([
      'config/_opaque/clusters/web.yaml:2:1: alt_stat_name: Envoy 1.40.0 rejects it: the name "bad" is bad',
    ]);
    expect(answer).toMatchObject({ asked: 4, notAsked: 0 });
    expect(given()).toContain('{"name":"elsewhere","type":"STATIC"}');
  });

  it("counts from the resource where Envoy counts from its configuration", async () => {
    const reason =
      "Protobuf message (type B reason INVALID_ARGUMENT: invalid JSON in envoy.config.bootstrap.v3.Bootstrap @ static_resources.listeners[0].filter_chains[0].filters[0].typed_config.<any>.route_config.virtual_hosts[0].routes[0].match: message envoy.M, near 1:42 (offset 41): is new) has unknown fields";
    const { lines } = await ask({
      program: fakeEnvoy(`if grep -q '"prefix":"/"' "$4"; then reject '${reason}'; fi`),
      files,
      paths: ["config/_opaque/routes/r.yaml"],
    });
    expect(lines).toEqual([
      "config/_opaque/routes/r.yaml:5:5: virtual_hosts[0].routes[0].match: Envoy 1.40.0 rejects it: is new",
    ]);
  });

  it("leaves out what is on the machine of Envoy, and what Envoy does not read at its start", async () => {
    const answer = await ask({
      program: fakeEnvoy(`if grep -q alt_stat_name "$4"; then reject 'Invalid path: /x.pem'; fi`),
      files: {
        ...files,
        "config/_opaque/listeners/grpc.yaml": `api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    stat_prefix: x
    rds: { route_config_name: r, config_source: { ads: {} } }
    http_filters: [{ name: router, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router } }]
`,
      },
      paths: ["config"],
    });
    expect(answer).toMatchObject({ asked: 3, notAsked: 2, problems: [] });
  });

  it("asks in groups, and tells the progress", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 600 }, (_, at) => [`config/_opaque/clusters/c${at}.yaml`, "{}\n"]),
    );
    const seen: string[] = [];
    const { given } = await ask({
      program: fakeEnvoy(),
      files: many,
      paths: ["config"],
      options: { onProgress: (done, all) => seen.push(`${done}/${all}`) },
    });
    expect(seen.at(-1)).toBe("600/600");
    expect(given().match(/"node":/g)).toHaveLength(3);
  });

  it("gives its configurations to this user only, and removes them", async () => {
    const { dir } = await useFolder();
    const { given } = await ask({
      program: fakeEnvoy(
        `stat -c '%a' "$4" "$(dirname "$4")" > "${dir}/modes"; echo "$4" >> "${dir}/modes"`,
      ),
      files,
      paths: ["config"],
    });
    expect(given()).not.toBe("");
    const [file, directory, path = ""] = readFileSync(join(dir, "modes"), "utf8").split("\n");
    expect([file, directory]).toEqual(["600", "700"]);
    expect(existsSync(dirname(path))).toBe(false);
  });
});
