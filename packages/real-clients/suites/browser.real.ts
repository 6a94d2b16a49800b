import { cpSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";

import { type FlagServer, startFlagServer } from "../../../examples/browser/flag-server.ts";
import { startPageServer } from "../../../examples/browser/page-server.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startNginx } from "../src/http-cache.ts";
import { findProgram } from "../src/programs.ts";
import { until } from "../src/until.ts";
import { type ServeProcess, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";
import { type OpenPage, usePage } from "../src/use-page.ts";

const flags = resolve(import.meta.dirname, "../../../examples/flags");

interface World {
  /** Starts `xdstp serve --http` of the flags, on the same port each time. */
  readonly serve: (port?: number) => Promise<ServeProcess>;
  readonly edit: (percent: number) => void;
  /** Serves the flags from this process, also over WebSockets; in place of a server before. */
  readonly serveHere: (before?: FlagServer) => Promise<FlagServer>;
  /** Opens the page; it reads the flags from this port. */
  readonly open: (command: string, port: number) => Promise<OpenPage>;
  /** Opens the page over a WebSocket. */
  readonly openWebSocket: (command: string, server: FlagServer) => Promise<OpenPage>;
}

async function useWorld(): Promise<World> {
  const dir = useFolder();
  cpSync(join(flags, "config"), dir, { recursive: true });
  const pages = await startPageServer();
  onTestFinished(() => pages[Symbol.asyncDispose]());
  return {
    serve: (port = 0) =>
      startServe(dir, port, [
        "--descriptors",
        join(flags, "gen/flags.binpb"),
        "--http",
        "--http-authority",
        "flags.example",
        "--http-origin",
        new URL(pages.url).origin,
      ]),
    edit(percent) {
      const file = join(dir, "flags.example/flags.v1.Flag/checkout/new-cart.yaml");
      writeFileSync(`${file}.tmp`, `"on": true\npercent: ${percent}\n`);
      renameSync(`${file}.tmp`, file);
    },
    async serveHere(before) {
      const server = await startFlagServer(dir, before);
      onTestFinished(() => server[Symbol.asyncDispose]());
      return server;
    },
    open: (command, port) => usePage(command, `${pages.url}?server=http://127.0.0.1:${port}`),
    openWebSocket: (command, { webSocketUrl }) =>
      usePage(command, `${pages.url}websocket?server=${webSocketUrl}`),
  };
}

async function untilShown(page: OpenPage, text: string): Promise<void> {
  let seen = "";
  await until(
    `the page shows ${text}`,
    async () => (seen = await page.shown()) === text,
    () => seen,
  );
}

async function untilError(page: OpenPage, text: string): Promise<void> {
  let seen = "";
  await until(
    `the page shows the error ${JSON.stringify(text)}`,
    async () => ((seen = await page.error()), text === "" ? seen === "" : seen.includes(text)),
    () => seen,
  );
}

describeProgram("chromium", "a page with @xdstp/web", (command) => {
  it("shows a change, the last state while the server is away and the page is opened again, and the next one [C-HTTP-11] [C-HTTP-7]", async () => {
    const { serve, edit, open } = await useWorld();
    const server = await serve();
    const page = await open(command, server.port);
    await untilShown(page, "current: on for 10 %");
    const took: number[] = [];
    for (const percent of [25, 30, 35]) {
      const began = performance.now();
      edit(percent);
      await untilShown(page, `current: on for ${percent} %`);
      took.push(Math.round(performance.now() - began));
    }
    console.log(`milliseconds from an edit to the page: ${took.join(", ")}`);
    await server.stop("SIGKILL");
    await page.reload();
    await untilShown(page, "stored: on for 35 %");
    edit(50);
    await serve(server.port);
    await untilShown(page, "current: on for 50 %");
  });

  it("shows a change over a WebSocket, comes back after an outage, and shows the last state when it is opened again in one [C-RECON-1]", async () => {
    const { serveHere, edit, openWebSocket } = await useWorld();
    const server = await serveHere();
    const page = await openWebSocket(command, server);
    await untilShown(page, "current: on for 10 %");
    const took: number[] = [];
    for (const percent of [25, 30, 35]) {
      const began = performance.now();
      edit(percent);
      await untilShown(page, `current: on for ${percent} %`);
      took.push(Math.round(performance.now() - began));
    }
    console.log(`milliseconds from an edit to the page over a WebSocket: ${took.join(", ")}`);
    await server[Symbol.asyncDispose]();
    await untilError(page, "the management server has answered nothing");
    expect(await page.shown()).toBe("current: on for 35 %");
    edit(40);
    const second = await serveHere(server);
    await untilShown(page, "current: on for 40 %");
    await untilError(page, "");
    await second[Symbol.asyncDispose]();
    await page.reload();
    await untilShown(page, "stored: on for 40 %");
    edit(50);
    const third = await serveHere(server);
    await untilShown(page, "current: on for 50 %");
    expect(third.clients()).toBe(1);
    // The browser closes the socket with the page.
    await page.close();
    await until("the server has no clients", () => third.clients() === 0);
  });

  it("shows a change behind nginx, and the last state while the server is away [S-HTTP-13]", async () => {
    const nginx = findProgram("nginx");
    if (!nginx.found) throw new Error(nginx.reason);
    const { serve, edit, open } = await useWorld();
    const server = await serve();
    const cache = await startNginx(nginx.command, server.port);
    const page = await open(command, cache.port);
    await untilShown(page, "current: on for 10 %");
    edit(25);
    await untilShown(page, "current: on for 25 %");
    await server.stop("SIGKILL");
    await page.reload();
    // nginx has the last state, so the page takes it as the present one.
    await until("the page shows 25 %", async () => (await page.shown()).endsWith("on for 25 %"));
    edit(50);
    await serve(server.port);
    await untilShown(page, "current: on for 50 %");
    expect(cache.process.ended).toBeUndefined();
  });
});
