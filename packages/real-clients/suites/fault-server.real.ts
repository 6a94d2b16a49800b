import { join } from "node:path";
import { connect } from "node:tls";
import { routeConfiguration } from "@xdstp/resource-types";
import { type TestAuthority, createTestAuthority } from "@xdstp/testing";
import { it, onTestFinished } from "vitest";
import { type ClientKind, clientKinds } from "../src/client-kinds.ts";
import { describeProgram } from "../src/describe-program.ts";
import type { ClientTls } from "../src/envoy-bootstrap.ts";
import { replaceFile } from "../src/replace-file.ts";
import { endpoints, patientCluster as cluster, route } from "../src/resources.ts";
import { until } from "../src/until.ts";
import { type ServeProcess, fileOf, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";
import { type Load, useLoad } from "../src/use-load.ts";
import { writeResources } from "../src/write-resources.ts";

/** A served folder in which a route is switched from one cluster to the next. */
interface Swaps {
  readonly dir: string;
  /** Writes a new cluster and the route to it; gives the answer that follows. */
  readonly next: () => string;
  /** Removes all clusters that are no longer in use. */
  readonly sweep: () => void;
}

async function useSwaps(kind: ClientKind): Promise<Swaps> {
  const ports = { blue: await kind.useBackend("blue"), green: await kind.useBackend("green") };
  const chain = (swap: number) => [
    cluster(`c${swap}`, `e${swap}`),
    endpoints(`e${swap}`, swap % 2 === 0 ? ports.blue : ports.green),
  ];
  const dir = useFolder(
    Object.fromEntries([kind.entry("svc", "r"), route("r", "c0"), ...chain(0)].map(fileOf)),
  );
  let [swap, swept] = [0, 0];
  const next = (): string => {
    swap++;
    writeResources(dir, [...chain(swap), route("r", `c${swap}`)]);
    return swap % 2 === 0 ? "blue" : "green";
  };
  const sweep = (): void => {
    for (; swept < swap; swept++) writeResources(dir, [], chain(swept));
  };
  return { dir, next, sweep };
}

async function useLoads(
  kinds: readonly ClientKind[],
  command: string,
  serve: ServeProcess,
  fault: string,
  tls?: ClientTls,
): Promise<readonly Load[]> {
  return Promise.all(
    kinds.map(async (kind) => {
      const client = await kind.start(command, serve.port, tls);
      const load = useLoad(await client.caller("svc"), {
        name: `${kind.program} ${kind.title}, ${fault}`,
        trace: () => serve.lines.slice(-30),
      });
      await load.answeredBy("blue");
      return load;
    }),
  );
}

const all = async (loads: readonly Load[], step: (load: Load) => Promise<void>): Promise<void> => {
  await Promise.all(loads.map(step));
};

for (const kind of clientKinds) {
  describeProgram(kind.program, `server killed (${kind.title})`, (command) => {
    it(`loses no request while the server is killed and started again twice, with ${kind.namesHeld ? "a swap" : "a switch to a new cluster"} in between [S-RECON-4] [S-ORD-1]`, async () => {
      const { dir, next, sweep } = await useSwaps(kind);
      let serve = await startServe(dir);
      const loads = await useLoads([kind], command, serve, "server killed");
      for (let round = 0; round < 2; round++) {
        await serve.stop("SIGKILL");
        const answer = next();
        // In SotW a client does not say what it holds, so a new server cannot know which removal has to wait.
        if (kind.namesHeld) sweep();
        await all(loads, (load) => load.more(50));
        serve = await startServe(dir, serve.port);
        await all(loads, (load) => load.answeredBy(answer));
        sweep();
      }
      await all(loads, (load) => load.more(50));
      await all(loads, (load) => load.finish());
    });
  });
}

for (const [program, kinds] of Map.groupBy(clientKinds, (kind) => kind.program)) {
  const [kind] = kinds;
  if (kind === undefined) continue;
  const titles = kinds.map(({ title }) => title).join(", ");

  describeProgram(program, `faults of the server (${titles})`, (command) => {
    it("loses no request while the server is frozen for 20 s, and takes from it what has changed meanwhile", async () => {
      const { dir, next, sweep } = await useSwaps(kind);
      const serve = await startServe(dir);
      const loads = await useLoads(kinds, command, serve, "server frozen");
      serve.signal("SIGSTOP");
      const answer = next();
      sweep();
      await all(loads, (load) => load.more(4000));
      serve.signal("SIGCONT");
      await all(loads, (load) => load.answeredBy(answer));
      await all(loads, (load) => load.more(50));
      await all(loads, (load) => load.finish());
    });

    if (kind.noTls === undefined)
      it("loses no request while the certificate of the server rotates, also to another authority, and the server is started again with it", async () => {
        const { dir, next, sweep } = await useSwaps(kind);
        const tls = useCertificates();
        tls.rotate("first", 0);
        let serve = await startServe(dir, 0, tls.flags);
        const loads = await useLoads(kinds, command, serve, "certificate rotated", tls);
        const swapped = async (): Promise<void> => {
          const answer = next();
          sweep();
          await all(loads, (load) => load.answeredBy(answer));
        };
        for (const [round, name] of ["second", "third", "fourth"].entries()) {
          tls.rotate(name, round % 2);
          await until(
            `certificate ${name}`,
            async () => (await tls.shownBy(serve.port)) === name,
            () => serve.lines.slice(-5),
          );
          await swapped();
        }
        await serve.stop("SIGKILL");
        serve = await startServe(dir, serve.port, tls.flags);
        await until(
          "all have come back",
          () =>
            serve
              .events()
              .filter(({ event, type }) => event === "ack" && type === routeConfiguration.typeUrl)
              .length >= kinds.length,
          () => serve.lines.slice(-5),
        );
        await swapped();
        await all(loads, (load) => load.finish());
      });
  });
}

interface Certificates {
  /** The file that clients trust: two authorities. */
  readonly ca: string;
  readonly flags: readonly string[];
  /** Puts a new certificate in place, signed by one of the authorities. */
  rotate(name: string, authority: number): void;
  /** The name in the certificate that a new connection is shown. */
  shownBy(port: number): Promise<string>;
}

function useCertificates(): Certificates {
  const authorities: readonly TestAuthority[] = [
    createTestAuthority("one"),
    createTestAuthority("two"),
  ];
  const bundle = authorities.map(({ cert }) => cert).join("");
  const dir = useFolder({ "ca.pem": bundle });
  return {
    ca: join(dir, "ca.pem"),
    flags: ["--tls-cert", join(dir, "cert.pem"), "--tls-key", join(dir, "key.pem")],
    rotate(name, authority) {
      const issued = authorities[authority]?.issue({
        name,
        dnsNames: ["localhost"],
        addresses: ["127.0.0.1"],
      });
      replaceFile(join(dir, "cert.pem"), issued?.cert ?? "");
      replaceFile(join(dir, "key.pem"), issued?.key ?? "");
    },
    async shownBy(port) {
      const socket = connect({
        port,
        host: "127.0.0.1",
        servername: "localhost",
        ca: bundle,
        ALPNProtocols: ["h2"],
      });
      onTestFinished(() => {
        socket.destroy();
      });
      await new Promise((resolve, reject) => {
        socket.on("secureConnect", resolve).on("error", reject);
      });
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return String(subject.CN);
    },
  };
}
