import { connect } from "node:http2";
import { createTestAuthority, type TestAuthority, type TestCertificate } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";
import { type ClientKind, clientKinds } from "../src/client-kinds.ts";
import { type ControlPlane, useControlPlaneWith } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { endpoints, patientCluster as cluster, route } from "../src/resources.ts";
import { until } from "../src/until.ts";
import { useClientCertificate } from "../src/use-client-certificate.ts";
import { useFolder } from "../src/use-folder.ts";
import { type Load, useLoad } from "../src/use-load.ts";

/** Connections end so soon that each step meets new ones. */
const connectionAge = { ms: 1500, graceMs: 500 };
const identity = (name: string): string => `spiffe://td/${name}`;
const certificateOf = (authority: TestAuthority, name: string): TestCertificate =>
  authority.issue({ name, uris: [identity(name)] });

interface World {
  readonly controlPlane: ControlPlane;
  readonly loads: readonly Load[];
  /** Switches the route to a new cluster and removes the old one; resolves when each client has answers by the new one. */
  readonly swap: () => Promise<void>;
  /** Sets the authorities whose certificates the server accepts on new connections. */
  readonly trust: (...clientCas: readonly TestAuthority[]) => void;
  /** Replaces the certificate of the clients. */
  readonly rotate: (next: TestCertificate) => void;
}

async function useWorld(
  kind: ClientKind,
  kinds: readonly ClientKind[],
  command: string,
  first: { readonly authority: TestAuthority; readonly certificate: TestCertificate },
): Promise<World> {
  const ports = { blue: await kind.useBackend("blue"), green: await kind.useBackend("green") };
  const ofServer = createTestAuthority("server");
  const own = ofServer.issue({ dnsNames: ["localhost"], addresses: ["127.0.0.1"] });
  const tlsWith = (
    ...clientCas: readonly TestAuthority[]
  ): TestCertificate & { readonly clientCa: string } => ({
    ...own,
    clientCa: clientCas.map(({ cert }) => cert).join(""),
  });
  const chain = (swap: number) => [
    route("r", `c${swap}`),
    cluster(`c${swap}`, `e${swap}`),
    endpoints(`e${swap}`, swap % 2 === 0 ? ports.blue : ports.green),
  ];
  const controlPlane = await useControlPlaneWith(
    { tls: tlsWith(first.authority), connectionAge },
    kind.entry("svc", "r"),
    ...chain(0),
  );
  const certificate = useClientCertificate(first.certificate);
  const ca = `${useFolder({ "ca.pem": ofServer.cert })}/ca.pem`;
  const loads = await Promise.all(
    kinds.map(async (each) => {
      const client = await each.start(command, controlPlane.port, { ca, own: certificate });
      return useLoad(await client.caller("svc"), {
        name: `${each.program} ${each.title}, certificate of the client rotated`,
        trace: () => controlPlane.trace(),
      });
    }),
  );
  let swaps = 0;
  return {
    controlPlane,
    loads,
    async swap() {
      controlPlane.publish(chain(++swaps));
      await Promise.all(loads.map((load) => load.answeredBy(swaps % 2 === 0 ? "blue" : "green")));
      controlPlane.publish([], [cluster(`c${swaps - 1}`, ""), endpoints(`e${swaps - 1}`)]);
    },
    trust(...clientCas) {
      controlPlane.setTls(tlsWith(...clientCas));
    },
    rotate(next) {
      certificate.rotate(next);
    },
  };
}

/** Returns the identities of the clients of a server, one for each stream. */
const identitiesOf = (controlPlane: ControlPlane): readonly (string | undefined)[] =>
  controlPlane.status().map((stream) => stream.identity?.uris[0]);

/** Resolves when this number of clients have streams, all of them under this identity. */
async function untilSeen(controlPlane: ControlPlane, name: string, clients: number): Promise<void> {
  const seen = (): boolean =>
    identitiesOf(controlPlane).length === clients &&
    identitiesOf(controlPlane).every((uri) => uri === identity(name));
  await until(`${clients} clients as ${name}`, seen, () => [
    identitiesOf(controlPlane),
    controlPlane.trace().slice(-5),
  ]);
}

/** Resolves when this number of clients are on connections that did not exist at the time of the call. */
async function untilAnew(controlPlane: ControlPlane, clients: number): Promise<void> {
  const before = new Set(controlPlane.status().map(({ id }) => id));
  const anew = (): boolean =>
    controlPlane.status().filter(({ id, types }) => !before.has(id) && types.length > 0).length >=
    clients;
  await until(`${clients} clients on new connections`, anew, () => controlPlane.trace().slice(-5));
}

/** Resolves when the server has ended a connection on which this certificate was shown. */
async function rejected(port: number, { cert, key }: TestCertificate): Promise<void> {
  const session = connect(`https://127.0.0.1:${port}`, { cert, key, rejectUnauthorized: false });
  onTestFinished(() => {
    session.destroy();
  });
  await new Promise<void>((resolve) => {
    session.on("error", () => undefined).on("close", resolve);
  });
}

for (const [program, kinds] of Map.groupBy(clientKinds, (kind) => kind.program)) {
  const [kind] = kinds;
  if (kind === undefined) continue;
  if (kind.noTls !== undefined) {
    console.log(`load: ${program}: its certificate cannot rotate: ${kind.noTls}`);
    continue;
  }
  describeProgram(
    program,
    `certificate of the client rotates (${kinds.map(({ title }) => title).join(", ")})`,
    (command) => {
      it("loses no request while its certificate rotates, also to another authority, and the server ceases to trust the first one [S-NODE-8]", async () => {
        const [one, two] = [createTestAuthority("one"), createTestAuthority("two")];
        const old = certificateOf(one, "second");
        const { controlPlane, loads, swap, trust, rotate } = await useWorld(kind, kinds, command, {
          authority: one,
          certificate: certificateOf(one, "first"),
        });
        const seen = async (name: string): Promise<void> => {
          await untilSeen(controlPlane, name, kinds.length);
          await swap();
        };
        const trusted = async (...authorities: readonly TestAuthority[]): Promise<void> => {
          trust(...authorities);
          await untilAnew(controlPlane, kinds.length);
        };
        await seen("first");
        rotate(old);
        await seen("second");
        await trusted(one, two);
        await seen("second");
        rotate(certificateOf(two, "third"));
        await seen("third");
        await trusted(two);
        await seen("third");
        const turnedAway = (): number => controlPlane.stats().wire.cuts["no-certificate"] ?? 0;
        expect(turnedAway(), "connections of clients that were rejected meanwhile").toBe(0);
        await rejected(controlPlane.port, old);
        expect(turnedAway()).toBe(1);
        expect(
          controlPlane.events.filter(
            (event) => event.kind === "connection-cut" && event.reason === "no-certificate",
          ),
        ).toHaveLength(1);
        await Promise.all(loads.map((load) => load.more(200)));
        await Promise.all(loads.map((load) => load.finish()));
        console.log(
          `load: ${program}: seen as first, second, third on ${controlPlane.stats().wire.connectionsOpened} connections; one more, with the old certificate, was rejected`,
        );
      });
    },
  );
}
