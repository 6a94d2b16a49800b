import { join } from "node:path";
import { freePort } from "./run-command.ts";
import { type Process, startProcess } from "./start-process.ts";
import { until } from "./until.ts";
import { useFolder } from "./use-folder.ts";

/** A cache in front of a server of HTTP, on a port of the loopback. */
export interface HttpCache {
  readonly port: number;
  readonly process: Process;
}

/** Starts nginx for the time of the test, with the settings that the README of `@xdstp/transport-http` has. */
export async function startNginx(command: string, origin: number): Promise<HttpCache> {
  const port = await freePort();
  const dir = useFolder({
    "nginx.conf": `
      user root;
      daemon off;
      worker_processes 1;
      pid nginx.pid;
      error_log stderr warn;
      events { worker_connections 4096; }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        ${cacheSettings(port, origin)}
      }
    `,
  });
  const args = ["-p", dir, "-c", join(dir, "nginx.conf")];
  return whenItListens(port, startProcess(command, args, { cwd: dir }));
}

function cacheSettings(port: number, origin: number): string {
  return `
    proxy_cache_path cache keys_zone=xds:10m inactive=1d;
    map $http_accept $events { default 0; "~text/event-stream" 1; }
    upstream origin {
      server 127.0.0.1:${origin};
      keepalive 4;
    }
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://origin;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        proxy_cache xds;
        proxy_cache_bypass $events;
        proxy_no_cache $events;
        proxy_cache_lock on;
        proxy_cache_lock_timeout 60s;
        proxy_cache_lock_age 60s;
        proxy_cache_revalidate on;
        proxy_cache_use_stale error timeout updating;
        proxy_cache_background_update on;
      }
    }
  `;
}

/** Starts Varnish for the time of the test, with the settings that the README of `@xdstp/transport-http` has. */
export async function startVarnish(command: string, origin: number): Promise<HttpCache> {
  const port = await freePort();
  const dir = useFolder({
    "xds.vcl": `
      vcl 4.1;
      backend origin { .host = "127.0.0.1"; .port = "${origin}"; }
      sub vcl_backend_response {
        set beresp.grace = 1d;
      }
    `,
  });
  const listen = ["-a", `127.0.0.1:${port}`, "-n", join(dir, "run")];
  const limits = ["-s", "malloc,64m", "-p", "thread_pools=1"];
  // Without the jail, since it would run as a user who cannot read the folder.
  const args = ["-F", "-j", "none", "-f", join(dir, "xds.vcl"), ...listen, ...limits];
  return whenItListens(port, startProcess(command, args, { cwd: dir }));
}

async function whenItListens(port: number, process: Process): Promise<HttpCache> {
  const how = await until(
    "the cache answers",
    async () =>
      process.ended ?? ((await fetch(`http://127.0.0.1:${port}/`)).status > 0 && "listens"),
    () => process.lines.slice(-10),
  );
  if (how !== "listens")
    throw new Error(`the cache ${how}: ${process.lines.slice(-10).join("; ")}`);
  return { port, process };
}
