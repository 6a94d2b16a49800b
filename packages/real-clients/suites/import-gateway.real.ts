import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createSeededRandom, createTestAuthority } from "@xdstp/testing";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { type GatewayBackends, useGatewayBackends } from "../src/gateway-backends.ts";
import { expectationsIn, type GatewayExpectation } from "../src/gateway-cases.ts";
import { type GatewayAnswer, sendTo } from "../src/gateway-client.ts";
import { completeInput } from "../src/gateway-input.ts";
import {
  expectedBackend,
  objectsOf,
  randomGateway,
  randomGatewayRequest,
} from "../src/random-gateway.ts";
import { freePort, runCommand, serveFolder } from "../src/run-command.ts";
import { until } from "../src/until.ts";
import { useFolder } from "../src/use-folder.ts";

const inputs = resolve(import.meta.dirname, "../gateway-api");
const names = readdirSync(inputs).filter((name) =>
  new RegExp(process.env.XDSTP_ONLY ?? "").test(name),
);
const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
/** Random sets of Gateways and routes, and requests to each. */
const worlds = 30;
const requests = 300;
/** Requests where the outcome is one of several; a share may be wrong by 0.1, which is more than four deviations. */
const repeated = 500;

describeProgram("envoy", "imported objects of the Gateway API", (command) => {
  it.each(names)("%s is served as its comments say", async (name) => {
    const text = readFileSync(join(inputs, name), "utf8");
    const authority = createTestAuthority();
    const backends = useGatewayBackends(authority);
    const world = await start(command, await completeInput(text, authority, backends));
    const expectations = expectationsIn(text);
    expect(expectations.length).toBeGreaterThan(0);
    for (const one of expectations) await check(one, world, backends);
  });

  it(`takes random requests by random routes as the specification says (seed ${seed})`, async () => {
    const random = createSeededRandom(seed);
    const backends = useGatewayBackends(createTestAuthority());
    const outcomes = new Map<string, number>();
    for (let at = 0; at < worlds; at++) {
      const gateway = randomGateway(random);
      const text = objectsOf(gateway);
      const complete = await completeInput(text, createTestAuthority(), backends);
      const world = await start(command, complete);
      const port = await world.portOf(80);
      for (let count = 0; count < requests; count++) {
        const request = randomGatewayRequest(random);
        const expected = expectedBackend(gateway, request);
        const { outcome } = await sendTo(port, request);
        const asked = `${request.method} ${request.url.href} ${JSON.stringify(request.headers)}`;
        expect(outcome, `seed ${seed}: ${asked}\n${text}`).toBe(expected);
        outcomes.set(expected, (outcomes.get(expected) ?? 0) + 1);
      }
      await world.stop();
    }
    // A generator that reaches one kind of outcome only would show little.
    for (const outcome of ["404", "500", "shop/a", "shop/b", "shop/c"])
      expect(outcomes.get(outcome), outcome).toBeGreaterThan(20);
  }, 300_000);
});

/** An Envoy with the imported configuration. */
interface World {
  readonly envoy: Envoy;
  /** Resolves with the port that it listens on instead of a port of a Gateway. */
  portOf(gatewayPort: number): Promise<number>;
  stop(): Promise<void>;
}

/** Imports objects, serves the folder and starts Envoy with the bootstrap, for the time of the test. */
async function start(command: string, text: string): Promise<World> {
  const dir = useFolder({ "k8s.yaml": text });
  const folder = join(dir, "config");
  const port = await freePort();
  const server = ["--server", `127.0.0.1:${port}`];
  const report = await runCommand(
    "import",
    "gateway-api",
    join(dir, "k8s.yaml"),
    folder,
    ...server,
  );
  expect(report.code, report.text).toBe(0);
  const validated = await runCommand("validate", folder);
  expect(validated.code, validated.text).toBe(0);
  const listeners = bindToLoopback(join(folder, "_opaque/listeners"));
  const stopServing = await serveFolder(folder, port);
  const envoy = await startEnvoy(
    command,
    `${readFileSync(`${folder}.bootstrap.yaml`, "utf8")}admin: { address: { socket_address: { address: 127.0.0.1, port_value: 0 } } }\n`,
  );
  for (const name of listeners.values()) await envoy.url(name);
  await envoy.untilWarm();
  const rejected = await envoy.stats(/update_rejected/);
  expect([...rejected].filter(([, count]) => count !== "0")).toEqual([]);
  return {
    envoy,
    portOf: async (gatewayPort) =>
      Number(new URL(await envoy.url(listeners.get(gatewayPort) ?? "")).port),
    stop: async () => {
      await envoy.stop();
      await stopServing();
    },
  };
}

/** Listeners get free ports of the loopback. Returns their names by the port that they had; those of UDP are left out. */
function bindToLoopback(dir: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const file of readdirSync(dir)) {
    const text = readFileSync(join(dir, file), "utf8");
    const { name } = parse(text) as { readonly name: string };
    const port = Number(/port_value: (\d+)/.exec(text)?.[1]);
    if (!text.includes("protocol: UDP")) found.set(port, name);
    writeFileSync(
      join(dir, file),
      text
        .replace("address: 0.0.0.0", "address: 127.0.0.1")
        .replace(/port_value: \d+/, "port_value: 0"),
    );
  }
  return found;
}

async function check(
  expectation: GatewayExpectation,
  world: World,
  backends: GatewayBackends,
): Promise<void> {
  const { line, url, outcomes, seen } = expectation;
  const port = await world.portOf(Number(url.port || (url.protocol === "https:" ? 443 : 80)));
  const answer = await sendTo(port, expectation);
  const [only, ...others] = outcomes;
  if (others.length === 0) expect(answer.outcome, line).toBe(only?.outcome);
  else await checkShares(expectation, port);
  for (const [key, value] of Object.entries(seen)) {
    if (key === "mirror")
      await until(`${line}: a mirrored request`, () =>
        backends.pathsOf(value).includes(url.pathname),
      );
    else expect(seenAt(key, answer), `${line}: ${key}`).toBe(value === "-" ? undefined : value);
  }
}

async function checkShares(expectation: GatewayExpectation, port: number): Promise<void> {
  const counts = new Map<string, number>();
  for (let count = 0; count < repeated; count++) {
    const { outcome } = await sendTo(port, expectation);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  for (const { outcome, share } of expectation.outcomes) {
    const found = (counts.get(outcome) ?? 0) / repeated;
    expect(Math.abs(found - share), `${expectation.line}: ${outcome} ${found}`).toBeLessThan(0.1);
    counts.delete(outcome);
  }
  expect([...counts.keys()]).toEqual([]);
}

function seenAt(key: string, { response, request, certificate }: GatewayAnswer): unknown {
  const [where, name = ""] = key.split(".");
  switch (where) {
    case "path":
      return request?.path;
    case "host":
      return request?.headers.host;
    case "request":
      return request?.headers[name]?.toString().replaceAll(", ", ",");
    case "response":
      return response[name]?.toString();
    case "location":
      return response.location;
    case "cert":
      return certificate;
    default:
      throw new Error(`${key} is not known`);
  }
}
