import { join } from "node:path";
import type { TestCertificate } from "@xdstp/testing";
import type { ClientFiles } from "./envoy-bootstrap.ts";
import { replaceFile } from "./replace-file.ts";
import { useFolder } from "./use-folder.ts";

/** A certificate that clients show, and that is replaced while they run. */
export interface ClientCertificate extends ClientFiles {
  rotate(next: TestCertificate): void;
}

/** Writes a certificate into a folder of its own, for the time of the test. */
export function useClientCertificate(first: TestCertificate): ClientCertificate {
  const dir = useFolder();
  const files: ClientFiles = {
    cert: join(dir, "cert.pem"),
    key: join(dir, "key.pem"),
    secret: join(dir, "secret.json"),
  };
  const rotate = (next: TestCertificate): void => {
    replaceFile(files.cert, next.cert);
    replaceFile(files.key, next.key);
    replaceFile(files.secret, secretOf(next));
  };
  rotate(first);
  return { ...files, rotate };
}

function secretOf({ cert, key }: TestCertificate): string {
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
  return JSON.stringify({
    resources: [
      {
        "@type": type,
        name: "client",
        tls_certificate: {
          certificate_chain: { inline_string: cert },
          private_key: { inline_string: key },
        },
      },
    ],
  });
}
