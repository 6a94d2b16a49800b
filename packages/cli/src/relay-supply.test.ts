import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseBootstrap } from "@xdstp/bootstrap";
import { systemClock } from "@xdstp/core";
import { expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { openRelaySupply } from "./relay.ts";

/** A program that locks a database as a relay does, writes `locked`, and runs until it is killed. */
const lockProgram = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("CREATE TABLE owner (pid INTEGER); BEGIN IMMEDIATE");
  console.log("locked");
  setInterval(() => database, 1_000);
`;

it("waits for a process that has the snapshot and ends soon, as that of a relay which was killed [B-RELAY-9]", async () => {
  const { dir } = useFolder();
  const other = spawn(process.execPath, ["-e", lockProgram, join(dir, "lock.db")]);
  const ended = once(other, "exit");
  onTestFinished(() => {
    other.kill("SIGKILL");
  });
  await once(other.stdout, "data");
  const told: string[] = [];
  const bootstrap = parseBootstrap(
    JSON.stringify({
      xds_servers: [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "insecure" }] }],
    }),
  );
  const supply = openRelaySupply(
    { bootstrap, snapshot: { dir }, clock: systemClock },
    { upstreams: [], by: "a test" },
    ({ event }) => {
      told.push(event.kind);
    },
  );
  expect(told).not.toContain("snapshot-opened");
  other.kill("SIGKILL");
  await ended;
  await (await supply).close();
  expect(told).toContain("snapshot-opened");
});
